//! The meter checked against the subjects' own accounts of their CPU time. Prints what it found.
//! Needs a quiet node, so it runs only by `make selftest`.

use wasmbench_e2e::accounts::{self, Entry};
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::operator::image;
use wasmbench_e2e::{runs, windows};
use wasmbench_model::wire::document::Meter;
use wasmbench_model::wire::record::Record;

/// Two subjects that print their account; one starts a process for each response.
fn accountants(image: &str) -> String {
    format!(
        r"
blocks: 3
noiseFloor: false
variants:
- {{name: alone, container: {{image: '{image}', args: ['--account=yes']}}}}
- name: forks
  container: {{image: '{image}', args: ['--account=yes', '--child-iterations=20000']}}
workloads: [{{name: compute, path: '/compute?iters=2000', expect: {{sameAcrossVariants: true}}}}]
sweeps:
  throughput: {{connections: [4], durationSeconds: 5, warmupSeconds: 1}}
"
    )
}

fn worst(errors: &[f64]) -> f64 {
    errors
        .iter()
        .copied()
        .max_by(|a, b| a.abs().total_cmp(&b.abs()))
        .expect("a trial")
}

/// The CPU time over a trial's window according to the meter and according to the subject.
fn both(record: &Record, accounts: &accounts::Accounts) -> (Meter, Entry) {
    let uid = &record.subject.as_ref().expect("a subject").pod_uid;
    let timed = record.load().and_then(|d| d.timed.as_ref());
    let timed = timed.expect("a window");
    let meter = timed.subject.clone().expect("a meter");
    let entries = accounts.get(uid).expect("an account");
    let parts = windows::parts(timed).into_iter();
    let of_part = |(from, to): (i128, i128)| {
        let used = accounts::used(entries, from as f64, to as f64);
        used.expect("the account covers the window")
    };
    let all = parts.map(of_part).reduce(|sum, part| Entry {
        own: sum.own + part.own,
        children: sum.children + part.children,
        ..sum
    });
    (meter, all.expect("a run"))
}

#[tokio::test]
#[ignore = "needs a quiet node: make selftest"]
async fn cpu_time_is_that_of_the_process_and_of_its_short_lived_children() {
    with_namespace("account", |client, namespace| async move {
        let image = image(&client, "native").await;
        runs::create(&client, &namespace, "accountants", &accountants(&image)).await;
        let waiting = (client.clone(), namespace.clone());
        let run = tokio::spawn(async move {
            runs::finished(&waiting.0, &waiting.1, "accountants", 300).await
        });
        let (run, accounts) = accounts::follow(&client, &namespace, run).await;
        let (mut without_children, mut forks) = (Vec::new(), Vec::new());
        for record in runs::records(&client, &run).await {
            let (meter, own) = both(&record, &accounts);
            let total = own.own + own.children;
            let error = meter.cpu_nanoseconds as f64 / total - 1.0;
            println!("{}: {:+.2} %, {meter:?}", record.trial, error * 100.0);
            let of_children = own.children / total;
            if record.trial.cell.variant == "forks" {
                assert!(of_children > 0.5, "{own:?}");
                forks.push(error);
            } else {
                assert!(own.children < 1.0, "{own:?}");
                without_children.push(error);
            }
        }
        assert_eq!((without_children.len(), forks.len()), (3, 3));
        let percent = |errors: &[f64]| format!("{:+.2} %", worst(errors) * 100.0);
        println!(
            "selftest: CPU time against the process' own: {} (within 2 %)",
            percent(&without_children)
        );
        println!(
            "selftest: CPU time against that of a child per request: {} (within 5 %)",
            percent(&forks)
        );
        assert!(
            worst(&without_children).abs() <= 0.02,
            "{without_children:?}"
        );
        assert!(worst(&forks).abs() <= 0.05, "{forks:?}");
    })
    .await;
}
