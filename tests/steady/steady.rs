//! Steady loads: an open loop that charges a target for the time it was away.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dupeproof::history::{Attempt, Cause, Clock, History, IntentId, Outcome, RunTime, Sent};
use dupeproof::load::MOST_IN_FLIGHT;
use dupeproof::profile::{Burst, ClientSettings, Rate};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::BufReader;
use tokio::net::TcpStream;
use tokio::sync::Mutex;

use crate::other::Other;
use crate::recording::Recording;
use crate::rig::{Rig, Setup, client, targets};
use crate::server::{Server, created, read_request, write};

/// How long a target stands still.
const STALL: Duration = Duration::from_secs(2);

/// One test at a time.
static ALONE: Mutex<()> = Mutex::const_new(());

fn rate(per_second: u32, lasts: Duration, duplicate_share: f64) -> Burst {
    Burst::Rate(Rate { per_second, lasts, duplicate_share, quantity: 1, request: 0 })
}

/// A load of 1,000 a second at a server that is stopped for two seconds in the middle.
struct Stalled {
    history: History,
    clock: Clock,
    stopped: RunTime,
    resumed: RunTime,
}

impl Stalled {
    async fn run(client: ClientSettings, most_in_flight: usize, lasts: Duration) -> Self {
        let other = Other::start(1);
        let (pid, targets) = (other.pid(), targets(&[other.address]));
        let setup = Setup { targets, client, most_in_flight, ..Setup::default() };
        let mut rig = Rig::set_up(setup).await;
        let (clock, progress) = (rig.clock, Arc::clone(&rig.progress));
        let stalling = async {
            while progress.now().answered < 1_000 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            kill_process(pid, Signal::STOP).unwrap();
            while !stands_still(pid) {
                tokio::task::yield_now().await;
            }
            let stopped = clock.now();
            tokio::time::sleep(STALL).await;
            let resumed = clock.now();
            kill_process(pid, Signal::CONT).unwrap();
            (stopped, resumed)
        };
        let burst = rate(1_000, lasts, 0.0);
        let (_, (stopped, resumed)) = tokio::join!(rig.play(&burst), stalling);
        Self { history: rig.history(), clock, stopped, resumed }
    }

    /// When the target wrote its answer, by its own word.
    fn answered(&self, one: &Attempt) -> RunTime {
        let wall: i64 = one.order.as_ref().unwrap().parse().unwrap();
        RunTime((wall - self.clock.wall_started().as_microsecond()) as u64)
    }
}

/// Whether all threads of a process are stopped: the signal returns before they are.
fn stands_still(pid: Pid) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero())).unwrap();
    threads.flatten().all(|thread| {
        let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap();
        stat.rsplit_once(") ").unwrap().1.starts_with('T')
    })
}

fn percentile(spans: impl Iterator<Item = Duration>, share: f64) -> Duration {
    let mut spans: Vec<_> = spans.collect();
    spans.sort_unstable();
    spans[((spans.len() as f64 * share).ceil() as usize).clamp(1, spans.len()) - 1]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stall_of_two_seconds_is_in_the_latencies_as_long_as_it_was() {
    let _alone = ALONE.lock().await;
    for most_in_flight in [64, MOST_IN_FLIGHT] {
        let stalled = Stalled::run(client(), most_in_flight, Duration::from_secs(5)).await;
        let attempts = &stalled.history.attempts;
        assert_eq!(attempts.len(), 5_000);
        let p99 = |of: &dyn Fn(&Attempt) -> Duration| percentile(attempts.iter().map(of), 0.99);
        // What was planned while the target stood still wasn't answered before it went on. From
        // there on it has its backlog to work off, hundreds of fresh connections among it, and that
        // is its time and not the client's: the target itself says when it answered.
        let least = p99(&|one| match one.planned.unwrap() {
            planned if planned < stalled.stopped => Duration::ZERO,
            planned => stalled.resumed.since(planned),
        });
        let truth = p99(&|one| stalled.answered(one).since(one.planned.unwrap()));
        let told = p99(&|one| one.latency().unwrap());
        let figures = format!("{told:?} told, {truth:?} true, {least:?} at least");
        println!("{most_in_flight} in flight: {figures}");
        assert!(least > STALL - Duration::from_millis(100), "{figures}");
        assert!(truth >= least && told >= least, "{figures}");
        assert!(told.abs_diff(truth) < truth / 20, "{figures}");
        for one in attempts {
            assert_eq!((one.cause, one.outcome), (Cause::Steady, Outcome::Acknowledged));
            assert!(one.planned <= one.first_byte, "nothing leaves before its time");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_attempt_of_a_stall_is_in_one_class_and_time_outs_stay_in() {
    let _alone = ALONE.lock().await;
    let patience = Duration::from_millis(500);
    let hasty = ClientSettings { timeout: patience, ..client() };
    let stalled = Stalled::run(hasty, MOST_IN_FLIGHT, Duration::from_secs(4)).await;
    let attempts = &stalled.history.attempts;
    let ids: HashSet<_> = attempts.iter().map(|one| one.id).collect();
    assert_eq!((attempts.len(), ids.len()), (4_000, 4_000));
    let mut classes: BTreeMap<Outcome, Vec<&Attempt>> = BTreeMap::new();
    for one in attempts {
        assert!(one.latency().is_some(), "nothing is left out of the latencies: {one:?}");
        classes.entry(one.outcome).or_default().push(one);
    }
    assert!(classes[&Outcome::Acknowledged].len() > 1_000);
    for one in &classes[&Outcome::Unknown] {
        assert!(one.latency().unwrap() >= patience, "{one:?}");
        assert!(one.failure.as_ref().unwrap().contains("no complete reply within"));
    }
    for one in classes.get(&Outcome::NotSent).into_iter().flatten() {
        assert!(one.latency().unwrap() >= patience, "{one:?}");
        assert_eq!(one.sent, Sent::Nothing);
    }
    let sum: usize = classes.values().map(Vec::len).sum();
    assert_eq!(sum, 4_000);
    assert!(classes[&Outcome::Unknown].len() >= MOST_IN_FLIGHT, "all that were in flight");
    // Those that were due in the first part of the stall can't have been answered in time.
    let hopeless = |one: &&Attempt| {
        let planned = one.planned.unwrap();
        planned >= stalled.stopped && planned.plus(STALL / 2) < stalled.resumed
    };
    let lost = attempts.iter().filter(hopeless);
    assert!(lost.clone().count() > 900);
    assert!(lost.clone().all(|one| one.latency().unwrap() >= patience));
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

async fn answer_all(stream: TcpStream, count: Arc<AtomicUsize>) {
    let mut stream = BufReader::new(stream);
    while let Some(arrived) = read_request(&mut stream).await {
        count.fetch_add(1, Ordering::SeqCst);
        write(stream.get_mut(), &created(&arrived.key())).await;
    }
}
