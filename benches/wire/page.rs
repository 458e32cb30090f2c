//! `docs/measured/wire.md`: the tables, and what they say of the aims.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use crate::Runs;
use crate::aims::{LEAST_THROUGHPUT, MOST_BEYOND, MOST_CPU, MOST_PINNED};
use crate::cases::{Run, Tools};
use crate::figures::thousands;
use crate::latency::Latencies;
use crate::served::Journal;

const fn mark(is_met: bool) -> &'static str {
    if is_met { "ok" } else { "x" }
}

/// Everything but the head.
pub fn body(runs: &[Runs], latencies: &[Latencies], journal: Journal) -> String {
    let rounds = runs[0].rounds.len();
    let mut page = String::new();
    let mut put = |line: &str| writeln!(page, "{line}").unwrap();
    put(&format!(
        "Direct, through dupeproof with every step in its journal, and through HAProxy (TCP, one \
         thread). Medians of {rounds} rounds, in each of which the three take turns; a ratio is \
         the median of the rounds' ratios.\n"
    ));
    put(&format!(
        "## Throughput\n\nExchanges a second; at least {LEAST_THROUGHPUT} of HAProxy's.\n\n\
         | | direct | dupeproof | HAProxy | to HAProxy | |\n|---|---|---|---|---|---|"
    ));
    for runs in runs {
        let of = |place| thousands(runs.median(place, |run| run.per_second));
        let (ratio, verdict) = (runs.ratio(|run| run.per_second), mark(runs.is_fast_enough()));
        let [direct, ours, haproxy] = [of(0), of(1), of(2)];
        let name = runs.case.name;
        put(&format!("| {name} | {direct} | {ours} | {haproxy} | {ratio:.2} | {verdict} |"));
    }
    put(&format!(
        "\n## CPU\n\nSeconds of the proxy's process for 100,000 exchanges, user and system, \
         journal included; at most {MOST_CPU:.2} of HAProxy's.\n\n\
         | | dupeproof | HAProxy | to HAProxy | |\n|---|---|---|---|---|"
    ));
    for runs in runs {
        let of = |place| runs.median(place, Run::cpu);
        let (ratio, verdict) = (runs.ratio(Run::cpu), mark(runs.is_cheap_enough()));
        let name = runs.case.name;
        put(&format!("| {name} | {:.2} | {:.2} | {ratio:.2} | {verdict} |", of(1), of(2)));
    }
    put(&format!(
        "\nThe journal had {} steps in {} MB; {} were left out. HAProxy copies and writes nothing: what \
         is more here is naming each step and writing its line of {} bytes, and it shows most where one \
         read brings many steps.",
        thousands(journal.steps as f64),
        journal.bytes / 1_000_000,
        thousands(journal.lost as f64),
        journal.bytes / journal.steps.max(1),
    ));
    latency(&mut page, latencies);
    verdict(&mut page, runs, latencies);
    page
}

fn latency(page: &mut String, latencies: &[Latencies]) {
    let mut put = |line: &str| writeln!(page, "{line}").unwrap();
    put(&format!(
        "\n## Latency\n\nMicroseconds with one client: the lower quartile and the median of the \
         turns' p50s, and the usual p99, which is no aim. Added at most what HAProxy adds and \
         {MOST_BEYOND:.0} more; with client, proxy and server on one CPU at most \
         {MOST_PINNED:.0} at the median.\n\n\
         | | | direct | dupeproof adds | HAProxy adds | |\n|---|---|---|---|---|---|"
    ));
    for found in latencies {
        let name = found.talk.name();
        let name = if found.is_pinned { format!("{name}, one CPU") } else { name.to_owned() };
        for (row, share) in [("lower quartile", 0.25), ("median", 0.5)] {
            let (direct, ours) = (found.p50(0, share), found.added(1, share));
            let theirs = found.added(2, share);
            let verdict = if share == 0.5 { mark(found.is_short_enough()) } else { "" };
            put(&format!("| {name} | {row} | {direct:.1} | {ours:.1} | {theirs:.1} | {verdict} |"));
        }
        let direct = found.p99(0);
        let [ours, theirs] = [1, 2].map(|place| found.p99(place) - direct);
        put(&format!("| {name} | p99 | {direct:.0} | {ours:.0} | {theirs:.0} | |"));
    }
}

fn verdict(page: &mut String, runs: &[Runs], latencies: &[Latencies]) {
    let fast = runs.iter().filter(|runs| runs.is_fast_enough()).count();
    let cheap = runs.iter().filter(|runs| runs.is_cheap_enough()).count();
    let short = latencies.iter().filter(|found| found.is_short_enough()).count();
    let cases = runs.len();
    writeln!(
        page,
        "\n## Verdict\n\nThe aims hold for throughput in {fast} of {cases} cases, for CPU in \
         {cheap} of {cases}, for latency in {short} of {}.",
        latencies.len()
    )
    .unwrap();
}

/// Writes the page with its head: when, with which command, on what machine, with which programs.
pub fn write(body: &str, tools: &Tools) {
    let cpus = std::thread::available_parallelism().map_or(0, usize::from);
    let page = format!(
        "# What the proxies cost\n\n- date: {}\n- command: `cargo bench --bench wire`\n\
         - machine: {cpus} cores, Linux {}\n- programs: {}, {}, {}\n\n{body}",
        jiff::Timestamp::now().strftime("%Y-%m-%d"),
        first_line(Path::new("uname"), "-r"),
        first_line(&tools.pgbench, "--version"),
        first_line(&tools.redis_benchmark, "--version"),
        first_line(&tools.haproxy, "-v").split(" - ").next().unwrap_or_default(),
    );
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/measured/wire.md");
    std::fs::write(&file, page).unwrap();
    println!("written to docs/measured/wire.md");
}

fn first_line(program: &Path, argument: &str) -> String {
    let output = Command::new(program).arg(argument).output().unwrap();
    String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned()
}
