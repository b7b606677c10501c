//! Many connections, slow ones, hostile ones: none of them disturbs the others.

use crate::common::{Client, PATIENCE, assert_others_are_answered, is_process, start};
use gateway_http::Config;
use std::io::{ErrorKind, Read};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// A configuration in which a request that has begun must soon be complete.
fn impatient() -> Config {
    Config {
        read_timeout: Duration::from_millis(200),
        ..Config::default()
    }
}

#[test]
fn twelve_hundred_kept_connections_all_make_progress() {
    let address = start(Config::default());
    let mut clients: Vec<Client> = (0..1200).map(|_| Client::connect(address)).collect();
    for round in 0..3 {
        for client in &mut clients {
            client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        }
        for (index, client) in clients.iter_mut().enumerate() {
            assert_eq!(
                client.answer().body,
                "hello",
                "client {index} in round {round}"
            );
        }
    }
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let mut client = Client::connect(start(Config::default()));
    client.send("GET /state HTTP/1.1\r\nHost: x\r\n\r\n".repeat(500));
    for count in 1..=500 {
        assert_eq!(client.answer().body, count.to_string());
    }
}

#[test]
fn a_request_that_arrives_byte_by_byte_is_answered() {
    let mut client = Client::connect(start(Config::default()));
    client.stream.set_nodelay(true).unwrap();
    for byte in b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n" {
        client.send([*byte]);
    }
    assert_eq!(client.answer().body, "ok");
}

#[test]
fn in_close_mode_each_answer_ends_its_connection() {
    let config = Config {
        close_connections: true,
        ..Config::default()
    };
    let address = start(config);
    for _ in 0..50 {
        let mut client = Client::connect(address);
        let answer = client.get("/");
        assert!(answer.head.contains("\r\nConnection: close\r\n"));
        assert_eq!((answer.body.as_str(), client.rest().len()), ("hello", 0));
    }
}

#[test]
fn a_client_that_stops_sending_still_gets_its_answers() {
    let mut client = Client::connect(start(Config::default()));
    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n");
    client.stream.shutdown(std::net::Shutdown::Write).unwrap();
    let text = String::from_utf8(client.rest()).unwrap();
    assert!(text.contains("hello") && text.ends_with("ok"), "{text}");
}

/// Clients that have sent part of a head.
fn slow_clients(address: SocketAddr) -> Vec<Client> {
    let mut slow: Vec<Client> = (0..200).map(|_| Client::connect(address)).collect();
    for client in &mut slow {
        client.send("GET / HTTP/1.1\r\nHost: x\r\nX-");
    }
    slow
}

#[test]
fn a_slow_head_does_not_hold_up_others() {
    let address = start(Config {
        read_timeout: 2 * PATIENCE,
        ..Config::default()
    });
    assert_others_are_answered(&slow_clients(address), address);
}

#[test]
fn a_slow_head_is_refused_when_its_time_is_over() {
    for client in &mut slow_clients(start(impatient())) {
        assert_eq!(client.answer().status, 408);
    }
}

#[test]
fn bytes_that_dribble_do_not_extend_the_time_of_a_request() {
    let mut client = Client::connect(start(impatient()));
    let begin = Instant::now();
    client
        .stream
        .set_read_timeout(Some(Duration::from_millis(20)))
        .unwrap();
    client.send("GET / HTTP/1.1\r\n");
    let mut first = [0; 12];
    while client.stream.read_exact(&mut first).is_err() {
        // The server may have closed already, which the next read shows.
        let _ = std::io::Write::write(&mut client.stream, b"X");
        assert!(begin.elapsed() < PATIENCE);
    }
    assert_eq!(&first, b"HTTP/1.1 408");
}

#[test]
fn an_idle_connection_is_closed_without_an_answer() {
    // Longer than a client takes to send a request, even on a busy machine.
    let address = start(Config {
        idle_timeout: Duration::from_secs(2),
        ..Config::default()
    });
    let begin = Instant::now();
    assert_eq!(Client::connect(address).rest(), b"");
    assert!(begin.elapsed() >= Duration::from_millis(1990));
    let mut used = Client::connect(address);
    assert_eq!(used.get("/").status, 200);
    assert_eq!(used.rest(), b"");
}

#[test]
fn a_client_that_does_not_read_is_disconnected() {
    let address = start(Config {
        write_timeout: Duration::from_millis(300),
        ..Config::default()
    });
    let mut client = Client::connect(address);
    client.stream.set_nonblocking(true).unwrap();
    let requests = "GET /compute?iters=0 HTTP/1.1\r\nHost: x\r\n\r\n".repeat(2000);
    let begin = Instant::now();
    // A wasmtime guest cannot abort a connection, but must not make the others wait for it.
    let patience = if is_process() {
        Duration::from_secs(3)
    } else {
        PATIENCE
    };
    loop {
        match std::io::Write::write(&mut client.stream, requests.as_bytes()) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(_) => break,
        }
        if begin.elapsed() > patience {
            assert!(is_process(), "the server never gave up");
            break;
        }
    }
    assert_eq!(Client::connect(address).get("/").body, "hello");
}

#[test]
fn a_client_beyond_the_cap_is_refused_and_served_later() {
    let address = start(Config {
        max_connections: 3,
        ..Config::default()
    });
    let mut held: Vec<Client> = (0..3).map(|_| Client::connect(address)).collect();
    for client in &mut held {
        assert_eq!(client.get("/").status, 200);
    }
    let refused = Client::connect(address).answer();
    assert_eq!(refused.status, 503);
    held.pop();
    let begin = Instant::now();
    while Client::connect(address).get("/").status != 200 {
        assert!(begin.elapsed() < PATIENCE);
    }
}

#[test]
fn a_too_long_body_is_refused_while_it_is_being_sent() {
    let mut client = Client::connect(start(Config::default()));
    client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4000000\r\n\r\n");
    client.send(vec![b'x'; 4_000_000]);
    assert_eq!(client.answer().status, 413);
    assert_eq!(client.rest(), b"");
}

#[test]
fn rubbish_from_many_clients_leaves_the_server_serving() {
    let address = start(Config::default());
    for index in 0..100_u8 {
        let mut client = Client::connect(address);
        let rubbish: Vec<u8> = (0..200).map(|at| index.wrapping_mul(31) ^ at).collect();
        client.send(rubbish).send("\r\n\r\n");
        if index % 2 == 0 {
            assert!(client.answer().status >= 400);
        }
    }
    assert_eq!(Client::connect(address).get("/").body, "hello");
}
