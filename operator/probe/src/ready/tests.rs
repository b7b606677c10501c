use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};

use super::*;
use crate::testing::free_port;

/// Waits for a service on this address.
fn wait_for(address: SocketAddr) -> Waited {
    let target = Target::new(address, "/").unwrap();
    let expect: Expectation = serde_json::from_str("{}").unwrap();
    let question = Question {
        ready: None,
        target: &target,
        expect: &expect,
        variant_prefix: "",
    };
    question.wait(Patience::start(Duration::from_secs(5)))
}

fn answer_once(listener: &TcpListener) {
    let mut stream = listener.accept().unwrap().0;
    let _ = stream.read(&mut [0; 1024]);
    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
}

/// A service with a health check, which counts the orders that it gets.
#[test]
fn where_something_else_shows_that_it_is_ready_the_request_is_sent_once() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let service = std::thread::spawn(move || {
        let mut paths = vec![];
        while !paths.contains(&"/order".to_owned()) {
            let mut stream = listener.accept().unwrap().0;
            let mut buffer = [0; 1024];
            let read = stream.read(&mut buffer).unwrap();
            let text = String::from_utf8_lossy(&buffer[..read]).into_owned();
            let path = text.split(' ').nth(1).unwrap().to_owned();
            let status = if paths.len() < 3 { 503 } else { 204 };
            let answer = match path.as_str() {
                "/health" => format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n"),
                _ => "HTTP/1.1 409 X\r\nContent-Length: 0\r\n\r\n".to_owned(),
            };
            let _ = stream.write_all(answer.as_bytes());
            paths.push(path);
        }
        paths
    });
    let ready = Ready {
        path: "/health".into(),
        status: 204,
    };
    let ready = Readying::new(address.into(), &ready).unwrap();
    let target = Target::new(address, "/order").unwrap();
    let question = Question {
        ready: Some(&ready),
        target: &target,
        expect: &Expectation::default(),
        variant_prefix: "",
    };
    let waited = question.wait(Patience::start(Duration::from_mins(1)));
    let failure = waited.outcome.unwrap_err();
    assert_eq!(failure.reason, FailureReason::WrongAnswer);
    assert!(failure.message.contains("was ready"), "{failure:?}");
    assert_eq!(
        service.join().unwrap(),
        ["/health", "/health", "/health", "/health", "/order"]
    );
    assert_eq!(waited.readiness.attempts, 5);
}

#[test]
fn the_last_refused_attempt_began_before_the_service_listened() {
    let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
    let began = unix_nanoseconds();
    let service = std::thread::spawn(move || {
        // Long enough for an attempt on any machine.
        std::thread::sleep(Duration::from_millis(500));
        let listener = TcpListener::bind(address).unwrap();
        let listening = unix_nanoseconds();
        answer_once(&listener);
        listening
    });
    let waited = wait_for(address);
    let listening = service.join().unwrap();
    let refused = waited.refused_unix_nanoseconds.expect("a refusal");
    assert!(began <= refused && refused <= listening, "{waited:?}");
}

#[test]
fn without_a_refusal_there_is_no_moment_of_one() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let service = std::thread::spawn(move || answer_once(&listener));
    let waited = wait_for(address);
    service.join().unwrap();
    assert_eq!(waited.outcome.unwrap().excerpt, "hi");
    assert_eq!(waited.refused_unix_nanoseconds, None);
}

#[test]
fn a_service_that_stays_wrong_is_polled_less_often_to_save_ports() {
    let wrong_for = |time| Observed {
        first_wrong: Instant::now().checked_sub(time),
        ..Observed::default()
    };
    assert_eq!(Observed::default().gap(), GAP);
    assert_eq!(wrong_for(OFTEN / 2).gap(), GAP);
    assert_eq!(wrong_for(OFTEN).gap(), LONG_GAP);
    // Linux hands out ports from 32768 to 60999, and keeps each for 60 s.
    let kept = OFTEN.as_micros() / GAP.as_micros() + 60_000_000 / LONG_GAP.as_micros();
    assert!(kept < 60_999 - 32_768, "{kept}");
}

#[test]
fn the_last_attempt_decides_how_a_timeout_is_reported() {
    let after = |attempts: Vec<Attempt>| {
        let mut observed = Observed::default();
        for attempt in attempts {
            observed.note(attempt, (Instant::now(), 0));
        }
        observed.failure(Duration::from_mins(2)).reason
    };
    let wrong = || Attempt::Wrong(None, "status 503".to_owned());
    let refused = || Attempt::Refused("refused".to_owned());
    for (attempts, reason) in [
        (vec![wrong(), refused()], FailureReason::NeverListened),
        (vec![refused(), wrong()], FailureReason::WrongAnswer),
        (vec![wrong(), Attempt::Slow], FailureReason::AnswerTooSlow),
        (
            vec![wrong(), Attempt::TooLarge],
            FailureReason::AnswerTooLarge,
        ),
    ] {
        assert_eq!(after(attempts), reason);
    }
}

#[test]
fn a_service_that_accepts_and_does_not_answer_in_time_is_called_slow() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let waited = wait_for(listener.local_addr().unwrap());
    let failure = waited.outcome.unwrap_err();
    assert_eq!(failure.reason, FailureReason::AnswerTooSlow);
    assert!(failure.message.contains("less work"), "{failure:?}");
}
