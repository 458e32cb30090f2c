//! What a proxy of ours costs: pgbench and redis-benchmark direct, through ours with every step in a
//! journal, and through HAProxy in TCP mode with one thread, side by side.
//!
//! Three figures of each: CPU seconds of the proxy's process for 100,000 exchanges (threads and
//! journal included, so ours runs in a process of its own), throughput, and the latency that one client
//! finds added. On a shared machine only ratios of one round say something, so the three take turns
//! within it, and the median over the rounds counts. `--quick` is one round, and writes no page.

#![expect(clippy::unwrap_used, reason = "a bench that cannot set up its world should end there")]
#![expect(clippy::print_stdout, reason = "a bench speaks to whoever runs it")]
#![expect(clippy::print_stderr, reason = "it says what is missing")]

mod aims;
mod cases;
mod client;
mod figures;
mod ground;
mod latency;
mod page;
mod peers;
mod served;

use std::process::ExitCode;
use std::time::Instant;

use cases::{CASES, Case, Tools};
use ground::Ground;
use latency::Latencies;
use peers::Way;

/// Rounds, of which the median counts.
const ROUNDS: usize = 9;
/// How often the three take turns for the latency.
const TURNS: usize = 12;

/// What the ways through were measured to do with one case, round by round.
pub struct Runs {
    case: &'static Case,
    rounds: Vec<[cases::Run; 3]>,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    if let Some(at) = words.iter().position(|word| word == "--serve") {
        served::run(&words[at + 1..]);
        return ExitCode::SUCCESS;
    }
    if words.iter().any(|word| word == "--test") {
        return ExitCode::SUCCESS;
    }
    let tools = match Tools::find() {
        Ok(tools) => tools,
        Err(missing) => {
            eprintln!("this bench needs {missing}");
            return ExitCode::from(4);
        }
    };
    let is_quick = words.iter().any(|word| word == "--quick");
    let (rounds, turns) = if is_quick { (1, 3) } else { (ROUNDS, TURNS) };
    let begin = Instant::now();
    let ground = Ground::start(&tools);
    let (runs, journal) = throughput(&tools, &ground, rounds);
    let latencies = latency(&tools, &ground, turns);
    ground.stop();
    let body = page::body(&runs, &latencies, journal);
    println!("{body}\n{:.0} s in all", begin.elapsed().as_secs_f64());
    if !is_quick {
        page::write(&body, &tools);
    }
    ExitCode::SUCCESS
}

/// All cases, round by round. Each round has proxies of its own.
fn throughput(tools: &Tools, ground: &Ground, rounds: usize) -> (Vec<Runs>, served::Journal) {
    let mut runs: Vec<Runs> = CASES.iter().map(|case| Runs { case, rounds: vec![] }).collect();
    let mut journal = served::Journal::default();
    for round in 0..rounds {
        let ways = Way::start_all(tools, ground);
        for runs in &mut runs {
            let mut found = [cases::Run::default(); 3];
            for place in turn(round) {
                found[place] = runs.case.run(tools, &ways[place]);
            }
            println!("round {} {:<24} {}", round + 1, runs.case.name, figures::line(&found));
            runs.rounds.push(found);
        }
        ways.into_iter().for_each(|way| journal.add(way.stop()));
    }
    (runs, journal)
}

/// One client; then one client with everything on one CPU.
fn latency(tools: &Tools, ground: &Ground, turns: usize) -> Vec<Latencies> {
    let ways = Way::start_all(tools, ground);
    let mut all = Vec::new();
    for is_pinned in [false, true] {
        if is_pinned {
            ground.pin();
            ways.iter().for_each(Way::pin);
        }
        for talk in client::Talk::ALL {
            let mut found = Latencies::new(talk, is_pinned);
            for round in 0..turns {
                for place in turn(round) {
                    found.add(place, &ways[place]);
                }
            }
            all.push(found);
        }
    }
    for way in ways {
        way.stop();
    }
    all
}

/// The order in which the ways are tried: there and back, so that none always follows another.
const fn turn(round: usize) -> [usize; 3] {
    if round.is_multiple_of(2) { [0, 1, 2] } else { [2, 1, 0] }
}
