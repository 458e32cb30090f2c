//! What a request costs: CPU seconds for 100,000 POSTs with a key each, beside wrk and oha.
//!
//! A closed loop of 64 connections at nginx. The client has one core to itself, nginx the other, and
//! every client is a process of its own whose CPU time the kernel tells, so that all are measured
//! with the same ruler: seconds of CPU, which stay steady on a shared machine, and not requests a
//! second, which don't. Ours writes its journal as in any run.

#![expect(clippy::unwrap_used, reason = "a bench that cannot set up its world should end there")]
#![expect(clippy::print_stdout, reason = "a bench speaks to whoever runs it")]

mod ours;
mod peers;
mod ruler;

use peers::{Nginx, oha, wrk};
use ruler::Cost;

/// Another client: its name, how it is run where it is installed, and how to install it.
type Peer = (&'static str, fn(&Nginx) -> Option<Cost>, &'static str);

/// Rounds, of which the median counts.
const ROUNDS: usize = 5;

fn main() {
    let words: Vec<String> = std::env::args().collect();
    match words.iter().position(|word| word == "--ours") {
        Some(at) => return ours::run(&words[at + 1..]),
        None if words.iter().any(|word| word == "--test") => return,
        None => {}
    }
    let Some(nginx) = Nginx::start() else {
        println!("this bench needs nginx: apt-get install nginx-light");
        return;
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if cores < 2 {
        println!("this bench needs two cores: one for the client, one for nginx");
        return;
    }
    let mut runs: Vec<(&str, Vec<Cost>)> = vec![("dupeproof", vec![])];
    let peers: [Peer; 2] =
        [("wrk", wrk, "apt-get install wrk"), ("oha", oha, "cargo install oha --locked")];
    runs.extend(peers.iter().map(|(name, ..)| (*name, vec![])));
    for round in 0..ROUNDS {
        runs[0].1.push(ours::measure(&nginx));
        for (place, (name, run, install)) in peers.iter().enumerate() {
            match run(&nginx) {
                Some(cost) => runs[place + 1].1.push(cost),
                None if round == 0 => {
                    println!("{name} is missing and left out; to have it: {install}");
                }
                None => {}
            }
        }
    }
    println!("CPU seconds for 100,000 POSTs, median of {ROUNDS} (user + system)");
    let medians: Vec<_> =
        runs.iter().filter_map(|(name, costs)| Some((*name, ruler::median(costs)?))).collect();
    for (name, cost) in &medians {
        println!("  {name:<10} {:.3}  ({:.3} + {:.3})", cost.total(), cost.user, cost.system);
    }
    let mine = medians[0].1.total();
    for (name, cost) in &medians[1..] {
        let target = if *name == "wrk" { " (at most 1.00)" } else { "" };
        println!("  ratio to {name:<4} {:.2}{target}", mine / cost.total());
    }
    print!("{}", ours::details(&nginx));
}
