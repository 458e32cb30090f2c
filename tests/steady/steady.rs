//! Steady loads: an open loop that charges a target for the time it was away.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dupeproof::history::{Attempt, Cause, History, IntentId, Outcome, RunTime, Sent};
use dupeproof::profile::{Burst, ClientSettings, Rate};
use rustix::process::{Signal, kill_process};
use tokio::io::BufReader;
use tokio::net::TcpStream;
use tokio::sync::Mutex;

use crate::other::Other;
use crate::recording::Recording;
use crate::rig::{Rig, Setup, client, targets};
use crate::server::{Server, created, read_request, write};

/// One test at a time.
static ALONE: Mutex<()> = Mutex::const_new(());

fn rate(per_second: u32, lasts: Duration, duplicate_share: f64) -> Burst {
    Burst::Rate(Rate { per_second, lasts, duplicate_share, quantity: 1, request: 0 })
}

/// A load of 1,000 a second at a server that is stopped for a while in the middle; when that was.
async fn stalled(
    client: ClientSettings,
    most_in_flight: usize,
    lasts: Duration,
    stall: Duration,
) -> (History, RunTime, RunTime) {
    let other = Other::start(1);
    let pid = other.pid();
    let targets = targets(&[other.address]);
    let mut rig = Rig::set_up(Setup { targets, client, most_in_flight, ..Setup::default() }).await;
    let (clock, progress) = (rig.clock, Arc::clone(&rig.progress));
    let stalling = async {
        while progress.now().answered < 1_000 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        kill_process(pid, Signal::STOP).unwrap();
        let stopped = clock.now();
        tokio::time::sleep(stall).await;
        let resumed = clock.now();
        kill_process(pid, Signal::CONT).unwrap();
        (stopped, resumed)
    };
    let burst = rate(1_000, lasts, 0.0);
    let (_, (stopped, resumed)) = tokio::join!(rig.play(&burst), stalling);
    (rig.history(), stopped, resumed)
}

fn percentile(mut spans: Vec<Duration>, share: f64) -> Duration {
    spans.sort_unstable();
    spans[((spans.len() as f64 * share).ceil() as usize).clamp(1, spans.len()) - 1]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stall_of_two_seconds_is_in_the_latencies_as_long_as_it_was() {
    let _alone = ALONE.lock().await;
    // Few in flight, so that the first second of the queue isn't answered all at the same time.
    let (history, stopped, resumed) =
        stalled(client(), 64, Duration::from_secs(5), Duration::from_secs(2)).await;
    assert_eq!(history.attempts.len(), 5_000);
    // What was planned while the target stood still can't have been answered before it went on.
    let truth = history.attempts.iter().map(|one| {
        let planned = one.planned.unwrap();
        if planned < stopped { Duration::ZERO } else { resumed.since(planned) }
    });
    let truth = percentile(truth.collect(), 0.99);
    let told = history.attempts.iter().map(|one| one.latency().unwrap());
    let told = percentile(told.collect(), 0.99);
    assert!(truth > Duration::from_millis(1_900), "{truth:?}");
    assert!(told.abs_diff(truth) < truth / 20, "{told:?} told, {truth:?} true");
    for one in &history.attempts {
        assert_eq!((one.cause, one.outcome), (Cause::Steady, Outcome::Acknowledged));
        assert!(one.planned <= one.first_byte, "nothing leaves before its time");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_attempt_of_a_stall_is_in_one_class_and_time_outs_stay_in() {
    let _alone = ALONE.lock().await;
    let hasty = ClientSettings { timeout: Duration::from_millis(500), ..client() };
    let (history, ..) = stalled(hasty, 512, Duration::from_secs(4), Duration::from_secs(2)).await;
    let ids: HashSet<_> = history.attempts.iter().map(|one| one.id).collect();
    assert_eq!((history.attempts.len(), ids.len()), (4_000, 4_000));
    let mut classes: BTreeMap<Outcome, Vec<&Attempt>> = BTreeMap::new();
    for one in &history.attempts {
        classes.entry(one.outcome).or_default().push(one);
    }
    assert!(classes[&Outcome::Acknowledged].len() > 1_000);
    for one in &classes[&Outcome::Unknown] {
        assert!(one.latency().unwrap() >= Duration::from_millis(500), "{one:?}");
        assert!(one.failure.as_ref().unwrap().contains("no complete reply within"));
    }
    for one in classes.get(&Outcome::NotSent).into_iter().flatten() {
        assert!(one.latency().unwrap() >= Duration::from_millis(500), "{one:?}");
        assert_eq!(one.sent, Sent::Nothing);
    }
    let sum: usize = classes.values().map(Vec::len).sum();
    assert_eq!(sum, 4_000);
    assert!(classes[&Outcome::Unknown].len() >= 512, "all that were in flight");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repeats_are_of_a_recent_intent_and_as_many_as_planned() {
    let _alone = ALONE.lock().await;
    let recordings = [Recording::of_orders().await, Recording::of_orders().await];
    let addresses = recordings.each_ref().map(|one| one.server.address);
    let mut rig = Rig::new(targets(&addresses), client()).await;
    let burst = rate(2_000, Duration::from_secs(1), 0.3);
    let planned = rig.planned(&burst);
    assert_eq!((planned.attempts, planned.intents), (2_000, 1_400));
    let summary = rig.play(&burst).await;
    assert_eq!(summary.tally.acknowledged, 2_000);
    rig.run(&crate::rig::burst(1, 1)).await;
    let history = rig.history();
    assert_eq!(history.intents.len(), 1_401, "numbers go on behind the load");
    let mut attempts: Vec<_> = history.attempts[..2_000].iter().collect();
    attempts.sort_by_key(|one| one.id);
    let mut next = 0;
    for one in attempts {
        if one.intent == IntentId(next) {
            next += 1;
        } else {
            assert!(one.intent.0 < next && next - one.intent.0 <= 100, "{one:?} after {next}");
        }
        assert_eq!(u32::from(one.instance.0), one.id.0 % 2);
    }
    assert_eq!(next, 1_400);
    let bodies: HashSet<_> = recordings
        .iter()
        .flat_map(Recording::seen)
        .map(|one| (one.arrived.key(), one.arrived.body))
        .collect();
    assert_eq!(bodies.len(), 1_401, "a repeat has the bytes of its intent");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_are_kept_and_never_more_than_allowed() {
    let _alone = ALONE.lock().await;
    let server = Server::start(|stream, _| answer_all(stream, Arc::default())).await;
    let mut rig = Rig::new(targets(&[server.address]), client()).await;
    rig.play(&rate(20_000, Duration::from_millis(500), 0.0)).await;
    assert!((1..=512).contains(&server.connections()), "{}", server.connections());
    assert_eq!(rig.history().attempts.len(), 10_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_steady_load_left_open_is_asked_again_with_the_same_bytes() {
    let _alone = ALONE.lock().await;
    let recording = Recording::answering(|_, number| {
        let pending = crate::server::reply("202 Accepted", "", "");
        if number < 50 { pending } else { created("1") }.into()
    })
    .await;
    let mut rig = Rig::new(targets(&[recording.server.address]), client()).await;
    rig.play(&rate(500, Duration::from_millis(200), 0.0)).await;
    let undecided = rig.load.undecided();
    assert_eq!(undecided.len(), 50);
    let until = rig.clock.now().plus(Duration::from_secs(20));
    let stop = rig.stop.clone();
    let resolved = rig.load.ask_again(&undecided, until, &stop).await.unwrap();
    assert!(resolved.iter().all(|one| one.outcome == Some(Outcome::Acknowledged)));
    let seen = recording.seen();
    let texts: HashSet<_> =
        seen.iter().map(|one| (one.arrived.head.clone(), one.arrived.body.clone())).collect();
    assert_eq!((seen.len(), texts.len()), (150, 100));
    assert_eq!(rig.history().intents.len(), 100);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_steady_load_that_is_stopped_ends_at_once_and_writes_down_what_it_sent() {
    let _alone = ALONE.lock().await;
    let arrived = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&arrived);
    let server = Server::start(move |stream, _| answer_all(stream, Arc::clone(&count))).await;
    let mut rig = Rig::new(targets(&[server.address]), client()).await;
    let (stop, progress) = (rig.stop.clone(), Arc::clone(&rig.progress));
    let begun = Instant::now();
    let burst = rate(1_000, Duration::from_secs(60), 0.2);
    let stopping = async {
        while progress.now().answered < 100 {
            tokio::task::yield_now().await;
        }
        stop.cancel();
    };
    let (summary, ()) = tokio::join!(rig.phase(&burst, None), stopping);
    assert!(summary.unwrap().interrupted && begun.elapsed() < Duration::from_secs(20));
    let history = rig.history();
    let sent = history.attempts.iter().filter(|one| one.sent == Sent::Whole).count();
    assert!(sent >= arrived.load(Ordering::SeqCst));
    assert!(history.attempts.len() < 60_000);
}

/// Memory that this process has in use, in KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Sends so many attempts as fast as the server takes them; the memory after a tenth and the most
/// after that, in KiB.
async fn memory(attempts: u32) -> (u64, u64) {
    let server = Server::start(|stream, _| answer_all(stream, Arc::default())).await;
    let patient = ClientSettings { timeout: Duration::from_secs(3_600), ..client() };
    let mut rig = Rig::new(targets(&[server.address]), patient).await;
    let progress = Arc::clone(&rig.progress);
    let burst = rate(attempts, Duration::from_secs(1), 0.1);
    let watching = async {
        let (mut early, mut most) = (0, 0);
        loop {
            let answered = progress.now().answered;
            if answered >= u64::from(attempts) {
                return (early, most);
            }
            if answered >= u64::from(attempts) / 10 {
                let now = resident();
                early = if early == 0 { now } else { early };
                most = most.max(now);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let (summary, figures) = tokio::join!(rig.phase(&burst, None), watching);
    assert_eq!(summary.unwrap().tally.acknowledged, u64::from(attempts));
    figures
}

/// Not in the process of the other tests, whose memory would be counted too.
#[test]
fn the_memory_of_200_000_attempts_is_flat() {
    let _alone = ALONE.blocking_lock();
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "steady::memory_alone", "--ignored", "--nocapture"])
        .env("ATTEMPTS", "200000")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success(), "{said}");
    let figures = said.lines().find_map(|line| line.strip_prefix("resident ")).unwrap();
    let figures: Vec<u64> = figures.split(' ').map(|word| word.parse().unwrap()).collect();
    assert!(figures[1] < figures[0] + 16 * 1024, "{} KiB became {}", figures[0], figures[1]);
}

#[test]
#[ignore = "started by the test above; by hand with ATTEMPTS=1000000"]
fn memory_alone() {
    let attempts = std::env::var("ATTEMPTS").ok().and_then(|text| text.parse().ok());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (early, most) = runtime.block_on(memory(attempts.unwrap_or(200_000)));
    println!("\nresident {early} {most}");
}

async fn answer_all(stream: TcpStream, count: Arc<AtomicUsize>) {
    let mut stream = BufReader::new(stream);
    while let Some(arrived) = read_request(&mut stream).await {
        count.fetch_add(1, Ordering::SeqCst);
        write(stream.get_mut(), &created(&arrived.key())).await;
    }
}
