//! Every rule at once, and anything at all: hundreds of links of three protocols with valid traffic and
//! garbage, cut at random, both ways. Nothing panics, memory is bounded, and when the rules are taken back
//! every link comes to its end, and every hold has.

mod links;
mod peers;
mod rules;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dupeproof::history::{FaultEvent, FaultId, Wire};
use dupeproof::wire::Notice;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tokio::process::Command;
use tokio::sync::mpsc::Receiver;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::ends::LIMIT;
use crate::watched::Watched;

use links::Kind;

/// Faults that have to fire, of each kind one at least.
const ENOUGH: usize = 500;
const SEED: u64 = 20_261_201;
const CLIENTS_OF_A_WIRE: u64 = 100;
/// What the process may grow by: buffers of 300 links and of their ends, and what is written down.
const MOST_GROWTH_KIB: u64 = 192 * 1024;

#[tokio::test]
async fn anything_at_all_meets_every_rule() {
    // Its memory can be told only where nothing else runs.
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "rule_garbage::in_a_process_of_its_own", "--ignored", "--nocapture"]);
    let output = timeout(LIMIT + LIMIT, command.kill_on_drop(true).output());
    let output = output.await.expect("it ends").unwrap();
    let said = [&*output.stdout, &*output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
    assert!(String::from_utf8_lossy(&said).contains("1 passed"), "it is there");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "run by the test above, in a process of its own"]
async fn in_a_process_of_its_own() {
    let large = Wire::ALL.map(|wire| Arc::new(words::large(wire)));
    let before = kib("VmRSS:");
    let over = CancellationToken::new();
    let mut servers = JoinSet::new();
    let mut doors = Vec::new();
    for (wire, seed) in Wire::ALL.into_iter().zip(SEED..) {
        doors.push((wire, peers::serve(wire, seed, &over, &mut servers).await, None));
    }
    let mut watched = Watched::servers(doors).await;
    let (all, names) = rules::every();
    let heard = Arc::new(Mutex::new(Heard::default()));
    let listening = Heard::listen(Arc::clone(&heard), watched.proxies().notices().unwrap());
    let armed = watched.proxies().arm(all).await.unwrap();

    let healed = CancellationToken::new();
    let mut clients = JoinSet::new();
    for (door, (wire, large)) in Wire::ALL.into_iter().zip(large).enumerate() {
        let (address, healed) = (watched.address(door), healed.clone());
        let kind = Kind { wire, address, large, healed };
        for number in 0..CLIENTS_OF_A_WIRE {
            let rng = ChaCha8Rng::seed_from_u64(SEED ^ (number << 8) ^ door as u64);
            clients.spawn(links::client(kind.clone(), number, rng));
        }
    }
    let enough = until(|| heard.lock().unwrap().is_enough(&names));
    assert!(enough.await, "never fired: {:#?}", heard.lock().unwrap().missing(&names));
    let began = Instant::now();
    timeout(LIMIT, watched.proxies().heal(armed)).await.expect("it is healed").unwrap();
    let took = began.elapsed();
    healed.cancel();
    let all = async { while clients.join_next().await.is_some() {} };
    timeout(LIMIT, all).await.expect("every link comes to its end");
    over.cancel();
    let none = async {
        while watched.proxies().counts().await.unwrap().iter().any(|door| door.open > 0) {
            tokio::task::yield_now().await;
        }
    };
    timeout(LIMIT, none).await.expect("no link is left");
    let grown = kib("VmHWM:").saturating_sub(before);
    // It fails if a link has panicked.
    let steps = watched.end_of_liars().await.history.steps.len();
    listening.await.unwrap();
    let heard = heard.lock().unwrap();
    eprintln!("{steps} steps, {grown} KiB, healed in {took:?}, {} firings", heard.fired.len());
    assert!(grown < MOST_GROWTH_KIB, "{grown} KiB");
    heard.assert_ended(&names);
}

/// Whether it is so before long.
async fn until(mut so: impl FnMut() -> bool) -> bool {
    let looks = async {
        while !so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(LIMIT, looks).await.is_ok()
}

fn kib(what: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(what)).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// What was heard of faults until there was nobody to tell anything.
#[derive(Debug, Default)]
struct Heard {
    fired: BTreeSet<(FaultId, u32)>,
    /// Firings that are over, and how often each was said to be.
    ended: BTreeMap<(FaultId, u32), u32>,
}

type Names = BTreeMap<FaultId, String>;

impl Heard {
    fn listen(heard: Arc<Mutex<Self>>, mut notices: Receiver<Notice>) -> JoinHandle<()> {
        tokio::spawn(async move {
            while let Some(notice) = notices.recv().await {
                let (fault, mut heard) = (notice.facts.fault, heard.lock().unwrap());
                match notice.facts.event {
                    FaultEvent::Fired(firing) => drop(heard.fired.insert((fault, firing.number))),
                    FaultEvent::Ended { firing, .. } => {
                        *heard.ended.entry((fault, firing)).or_default() += 1;
                    }
                    _ => {}
                }
            }
        })
    }

    fn missing<'a>(&self, names: &'a Names) -> Vec<&'a String> {
        let faults: BTreeSet<_> = self.fired.iter().map(|(fault, _)| *fault).collect();
        names.iter().filter(|(fault, _)| !faults.contains(fault)).map(|(_, name)| name).collect()
    }

    fn is_enough(&self, names: &Names) -> bool {
        self.fired.len() >= ENOUGH && self.missing(names).is_empty()
    }

    /// Each firing, and once.
    fn assert_ended(&self, names: &Names) {
        let mut open: BTreeMap<_, u32> = BTreeMap::new();
        for (fault, _) in self.fired.iter().filter(|it| !self.ended.contains_key(it)) {
            *open.entry(&names[fault]).or_default() += 1;
        }
        assert!(open.is_empty(), "never ended: {open:#?}");
        let again: Vec<_> = self.ended.iter().filter(|(_, times)| **times > 1).collect();
        assert!(again.is_empty(), "ended again: {again:?}");
    }
}
