//! How long a run of a given size takes to be judged from its folder, and how much memory.
//!
//! Each size is written to disk as a drill writes it (five attempts to an intent, a body of its own for
//! each order, both audits with all rows), then judged in a process of its own by the very path that
//! `dupeproof audit RUN` takes. Peak memory is what the kernel says.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench fails and prints by itself")]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use dupeproof::history::{
    Attempt, AttemptId, Body, BodyId, Cause, ClockFacts, Contended, DrainFacts, Fact,
    InstanceFacts, InstanceId, Intent, IntentId, KeyForm, Moment, OrderRow, Outcome, PhaseFacts,
    PhaseId, RunFacts, RunFolder, RunId, RunTime, SCHEMA_VERSION, Sent, Snapshot, StockRow,
};
use dupeproof::profile::{self, Profile};

const PER_INTENT: u32 = 5;
const PRODUCTS: u32 = 12;
const STARTED: &str = "2026-11-30T10:31:07Z";

fn main() {
    match std::env::var_os("DUPEPROOF_BENCH_FOLDER") {
        Some(folder) => judge(Path::new(&folder)),
        None => [10_000, 100_000, 1_000_000].into_iter().for_each(measure),
    }
}

fn checkout() -> Profile {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("profiles/checkout.toml");
    profile::load(&path, &|_| None).unwrap()
}

fn measure(attempts: u32) {
    let root = tempfile::tempdir().unwrap();
    let folder = write(root.path(), attempts);
    let judged = Command::new(std::env::current_exe().unwrap())
        .env("DUPEPROOF_BENCH_FOLDER", &folder)
        .output()
        .unwrap();
    assert!(judged.status.success(), "{}", String::from_utf8_lossy(&judged.stderr));
    print!("{attempts:>9} attempts  {}", String::from_utf8_lossy(&judged.stdout));
}

/// Judges a folder and prints what it took.
fn judge(folder: &Path) {
    let begin = Instant::now();
    let result = dupeproof::drill::judge(&RunFolder::open(folder), &checkout(), folder).unwrap();
    let took = begin.elapsed();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    // On a busy machine the time on the processor says more than that on the wall; in 10 ms.
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    println!(
        "{:>8} orders  {:>7.0} ms, {:>6} ms of processor  {:>4} MB  {:?}, {}",
        result.accounting.orders,
        took.as_secs_f64() * 1_000.0,
        ticks * 10,
        peak / 1_024,
        result.verdict,
        dupeproof::audit::plural(result.findings.len() as u64, "finding", "findings")
    );
}

fn write(root: &Path, attempts: u32) -> PathBuf {
    let run = RunId::from_bits(0x7c1e);
    let started = STARTED.parse().unwrap();
    let folder = RunFolder::create(root, started, "bench", run).unwrap();
    let intents = attempts / PER_INTENT;
    let mut journal = Journal::create(&folder.journal());
    journal.add(&Fact::Run(Box::new(RunFacts {
        schema_version: SCHEMA_VERSION,
        run,
        seed: 1,
        version: "bench".to_owned(),
        profile: "checkout.toml".to_owned(),
        started,
        defects: Vec::new(),
        environment: BTreeMap::new(),
    })));
    for number in 0..2 {
        let (name, url) = (format!("orders-{number}"), format!("http://127.0.0.1:808{number}"));
        journal.add(&Fact::Instance(InstanceFacts { id: InstanceId(number), name, url }));
    }
    journal.add(&Fact::PhaseStarted(PhaseFacts {
        id: PhaseId(0),
        name: "double click".to_owned(),
        burst: "same-key".to_owned(),
        arrival: "at-once".to_owned(),
        contended: Some(Contended::Key),
        overlap_share: 0.5,
        planned: u64::from(attempts),
        at: RunTime(0),
    }));
    for number in 0..intents {
        journal.add(&Fact::Intent(intent(run, number)));
        journal.add(&Fact::Body(body(number)));
        for thread in 0..PER_INTENT {
            journal.add(&Fact::Attempt(attempt(number, thread)));
        }
    }
    let last = RunTime(u64::from(attempts) * 10 + 1_000_000);
    let about = "nothing left".to_owned();
    journal.add(&Fact::Drain(DrainFacts { began: last, ended: last, drained: true, about }));
    journal.add(&Fact::Clock(ClockFacts { at: last, drift_us: 0 }));
    journal.seal();
    let orders: Vec<OrderRow> = (0..intents).map(|number| row(run, number)).collect();
    let rows = |orders: Vec<OrderRow>, taken: RunTime, per_product: i64| Snapshot {
        schema_version: SCHEMA_VERSION,
        taken,
        orders,
        stock: (0..PRODUCTS)
            .map(|product| {
                let bought = (0..intents).filter(|number| number % PRODUCTS == product).count();
                let available = 1_000_000 - bought as i64 * per_product;
                (product_of(run, product).to_string(), StockRow { available, fence: None })
            })
            .collect(),
        ..Snapshot::default()
    };
    folder.write_rows(Moment::Baseline, &rows(Vec::new(), RunTime(0), 0)).unwrap();
    let after = rows(orders, last, 1);
    folder.write_rows(Moment::BeforeRepair, &after).unwrap();
    folder.write_rows(Moment::After, &after).unwrap();
    folder.path().to_owned()
}

struct Journal {
    out: BufWriter<File>,
    facts: u64,
}

impl Journal {
    fn create(path: &Path) -> Self {
        Self { out: BufWriter::new(File::create(path).unwrap()), facts: 0 }
    }

    fn add(&mut self, fact: &Fact) {
        serde_json::to_writer(&mut self.out, fact).unwrap();
        self.out.write_all(b"\n").unwrap();
        self.facts += 1;
    }

    fn seal(mut self) {
        self.add(&Fact::Sealed { facts: self.facts });
        self.out.flush().unwrap();
    }
}

fn product_of(run: RunId, number: u32) -> i64 {
    run.first_product() + i64::from(number % PRODUCTS)
}

fn intent(run: RunId, number: u32) -> Intent {
    Intent {
        id: IntentId(number),
        phase: PhaseId(0),
        user: format!("u-{run}-{number:03}"),
        key: format!("k-{run}-{number:03}"),
        product: product_of(run, number),
        quantity: 1,
        fingerprint: format!("{number:064x}"),
        request: "place-order".to_owned(),
        entity: None,
        key_form: KeyForm::Good,
    }
}

fn body(number: u32) -> Body {
    let text =
        format!("{{\"orderId\":\"{}\",\"quantity\":1,\"status\":\"CREATED\"}}", 1_000 + number);
    Body { id: BodyId(number), bytes: text.len() as u64, sha256: format!("{number:064x}"), text }
}

fn attempt(number: u32, thread: u32) -> Attempt {
    let begin = u64::from(number * PER_INTENT) * 10 + u64::from(thread);
    // One of five is put off; the others are told of the order.
    let is_told = thread != 3;
    Attempt {
        id: AttemptId(number * PER_INTENT + thread),
        intent: IntentId(number),
        cause: Cause::Burst,
        instance: InstanceId((thread % 2) as u16),
        variant: None,
        sent: Sent::Whole,
        planned: None,
        first_byte: Some(RunTime(begin)),
        last_byte: Some(RunTime(begin + 1)),
        released: Some(RunTime(begin + 2)),
        completed: Some(RunTime(begin + 900 + u64::from(thread) * 7)),
        outcome: if is_told { Outcome::Acknowledged } else { Outcome::Pending },
        status: Some(if is_told { 201 } else { 202 }),
        body: is_told.then_some(BodyId(number)),
        order: is_told.then(|| (1_000 + number).to_string().into()),
        replay_marker: None,
        waiting: None,
        refusal: None,
        failure: None,
    }
}

fn row(run: RunId, number: u32) -> OrderRow {
    OrderRow {
        id: (1_000 + number).to_string().into(),
        user: Some(format!("u-{run}-{number:03}").into()),
        key: Some(format!("k-{run}-{number:03}").into()),
        product: Some(product_of(run, number).to_string().into()),
        quantity: Some(1),
        status: Some("CREATED".to_owned().into()),
        created_us: Some(1_796_034_667_000_000 + i64::from(number)),
        ..OrderRow::default()
    }
}
