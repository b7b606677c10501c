//! An executor's process: calls from standard input go to threads, whose answers go to standard
//! output. It ends when its input does.

use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::options::Options;
use crate::protocol::{Answer, Call, Done, Facts, ready_line};

/// What executes kernels.
pub trait Engine: Sync {
    /// What it reports about itself.
    fn facts(&self) -> Facts;

    /// Prepares what a thread needs, on that thread.
    fn worker(&self) -> Result<impl Worker, String>;
}

/// What executes kernels on one thread.
pub trait Worker {
    /// Makes an instance of a kernel, runs it, and drops it.
    fn call(&mut self, kernel: &str, repeats: u32) -> Result<Done, String>;
}

/// Runs the process of an executor. `open` makes the engine, with all modules loaded.
pub fn main<E: Engine>(name: &str, open: impl FnOnce(&Options) -> Result<E, String>) -> ExitCode {
    let options = Options::parse(std::env::args().skip(1));
    let served = options.and_then(|options| {
        let engine = open(&options)?;
        let input = std::io::stdin().lock();
        serve(&engine, options.threads, input, std::io::stdout())
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            let _ = writeln!(std::io::stderr(), "{name}: {why}");
            ExitCode::FAILURE
        }
    }
}

fn serve<E: Engine>(
    engine: &E,
    threads: usize,
    input: impl BufRead,
    output: impl Write + Send,
) -> Result<(), String> {
    let (calls, waiting) = channel::<Call>();
    let (waiting, output) = (Mutex::new(waiting), Mutex::new(output));
    let (started, starting) = channel();
    std::thread::scope(|scope| {
        // Dropped with this closure: that ends the threads, which finish their calls first.
        let calls = calls;
        for _ in 0..threads {
            let (started, waiting, output) = (started.clone(), &waiting, &output);
            scope.spawn(move || work(engine, &started, waiting, output));
        }
        // Ends the wait if a thread does not start at all.
        drop(started);
        for _ in 0..threads {
            let outcome = starting.recv();
            outcome.map_err(|_| "a thread did not start".to_owned())??;
        }
        print(&output, &ready_line(&engine.facts()))?;
        read(input, &calls)
    })
}

/// Hands over calls until the end of the input.
fn read(input: impl BufRead, calls: &Sender<Call>) -> Result<(), String> {
    for line in input.lines() {
        let line = line.map_err(|error| format!("could not read a call: {error}"))?;
        let call = line.parse()?;
        calls
            .send(call)
            .map_err(|_| "no thread takes calls".to_owned())?;
    }
    Ok(())
}

fn work<E: Engine>(
    engine: &E,
    started: &Sender<Result<(), String>>,
    waiting: &Mutex<Receiver<Call>>,
    output: &Mutex<impl Write>,
) {
    let _ends = EndWithPanic;
    let mut worker = match engine.worker() {
        Ok(worker) => worker,
        Err(why) => {
            let _ = started.send(Err(why));
            return;
        }
    };
    let _ = started.send(Ok(()));
    loop {
        let next = lock(waiting).recv();
        let Ok(call) = next else { return };
        let outcome = worker.call(&call.kernel, call.repeats);
        let answer = Answer {
            id: call.id,
            outcome,
        };
        // Without a reader the input ends as well.
        let _ = print(output, &answer.to_string());
    }
}

fn print(output: &Mutex<impl Write>, line: &str) -> Result<(), String> {
    let mut output = lock(output);
    let written = output.write_all(format!("{line}\n").as_bytes());
    written
        .and_then(|()| output.flush())
        .map_err(|error| format!("could not write an answer: {error}"))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic ends the process.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A call whose thread panics would never be answered: the process ends instead.
struct EndWithPanic;

impl Drop for EndWithPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::process::exit(101);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    /// Adds its threads' calls up, two of which must run at once.
    struct Pairs(Barrier);

    impl Engine for Pairs {
        fn facts(&self) -> Facts {
            crate::engine_facts("pairs", "1", "Jit")
        }

        fn worker(&self) -> Result<impl Worker, String> {
            Ok(Pair(&self.0))
        }
    }

    struct Pair<'a>(&'a Barrier);

    impl Worker for Pair<'_> {
        fn call(&mut self, kernel: &str, repeats: u32) -> Result<Done, String> {
            if kernel != "pair" {
                return Err(crate::modules::unknown(kernel));
            }
            self.0.wait();
            Ok(Done {
                checksum_bits: f64::from(repeats).to_bits(),
                instance_nanoseconds: 1,
                process: None,
            })
        }
    }

    fn lines_of(threads: usize, input: &str) -> (Result<(), String>, Vec<String>) {
        let mut output = vec![];
        let served = serve(
            &Pairs(Barrier::new(threads)),
            threads,
            input.as_bytes(),
            &mut output,
        );
        let output = String::from_utf8(output).unwrap();
        (served, output.lines().map(str::to_owned).collect())
    }

    #[test]
    fn it_reports_its_facts_and_answers_each_call_and_ends_with_its_input() {
        let (served, lines) = lines_of(1, "1 pair 2\n2 other 1\n");
        assert_eq!(served, Ok(()));
        assert!(lines[0].starts_with(r#"ready {""#), "{}", lines[0]);
        assert_eq!(
            lines[1..],
            ["1 4000000000000000 1", "2 ! there is no kernel 'other'"]
        );
    }

    #[test]
    fn as_many_calls_run_at_once_as_there_are_threads() {
        let (served, lines) = lines_of(2, "1 pair 1\n2 pair 1\n3 pair 1\n4 pair 1\n");
        assert_eq!((served, lines.len()), (Ok(()), 5));
    }

    #[test]
    fn a_line_that_is_no_call_ends_it() {
        let (served, lines) = lines_of(1, "pair\n");
        assert!(served.unwrap_err().contains("'pair'"));
        assert_eq!(lines.len(), 1);
    }

    struct Broken;

    impl Engine for Broken {
        fn facts(&self) -> Facts {
            Facts::new()
        }

        fn worker(&self) -> Result<impl Worker, String> {
            Err::<Pair<'_>, _>("no module".to_owned())
        }
    }

    #[test]
    fn it_is_not_ready_if_a_thread_cannot_start() {
        let mut output = vec![];
        let served = serve(&Broken, 2, &b""[..], &mut output);
        assert_eq!(served, Err("no module".into()));
        assert_eq!(output, b"");
    }
}
