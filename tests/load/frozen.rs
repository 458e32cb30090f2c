//! A release into a target that is really stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use dupeproof::history::{InstanceId, Sent};
use dupeproof::load::{Freezer, Freezing, LoadError};
use dupeproof::profile::{Burst, Crowd, Release};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use crate::other::Other;
use crate::rig::{Rig, burst, by_intent, client, hasty, targets};

#[derive(Debug)]
struct Signals {
    pid: Pid,
    thaws: Arc<AtomicUsize>,
    /// What comes of `freeze`, once the process is stopped.
    end: Freeze,
}

#[derive(Debug, PartialEq)]
enum Freeze {
    Succeeds,
    Fails,
    Panics,
}

impl Signals {
    fn of(other: &Other) -> Self {
        Self { pid: other.pid(), thaws: Arc::default(), end: Freeze::Succeeds }
    }
}

impl Freezer for Signals {
    fn freeze(&self) -> Freezing<'_, ()> {
        Box::pin(async {
            kill_process(self.pid, Signal::STOP).unwrap();
            let options = WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT;
            waitid(WaitId::Pid(self.pid), options).unwrap();
            assert_ne!(self.end, Freeze::Panics, "one instance went on");
            if self.end == Freeze::Fails { Err("one instance went on".to_owned()) } else { Ok(()) }
        })
    }

    fn thaw(&self) -> Freezing<'_, Vec<(InstanceId, Instant)>> {
        Box::pin(async {
            let resumed = Instant::now();
            kill_process(self.pid, Signal::CONT).unwrap();
            self.thaws.fetch_add(1, Ordering::SeqCst);
            Ok(vec![(InstanceId(0), resumed)])
        })
    }
}

fn frozen(users: u32, threads: u32) -> Crowd {
    Crowd {
        arrival: dupeproof::profile::Arrival::AtOnce,
        release: Release::Frozen,
        ..burst(users, threads)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frozen_target_is_offered_all_twenty_of_each_of_200_keys() {
    let other = Other::start(20);
    let freezer = Arc::new(Signals::of(&other));
    let mut rig = Rig::new(targets(&[other.address]), client()).await;
    let summary = rig.run_with(&frozen(200, 20), Some(freezer)).await;
    assert_eq!(summary.tally.acknowledged, 4_000);
    let history = rig.history();
    let facts = &history.bursts[0];
    let resumed = facts.resumes[0].at;
    assert_eq!(facts.release, "frozen");
    for attempts in by_intent(&history).into_values() {
        assert_eq!(attempts.len(), 20);
        for attempt in attempts {
            assert_eq!(attempt.sent, Sent::Whole);
            assert_eq!(attempt.released, Some(resumed));
            assert!(attempt.last_byte.unwrap() <= resumed && resumed <= attempt.completed.unwrap());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_freeze_that_fails_is_undone_and_nothing_is_released() {
    for end in [Freeze::Fails, Freeze::Panics] {
        let other = Other::start(1);
        let freezer = Arc::new(Signals { end, ..Signals::of(&other) });
        let thaws = Arc::clone(&freezer.thaws);
        let mut settings = client();
        settings.retries.at_most = 3;
        let mut rig = Rig::new(targets(&[other.address]), settings).await;
        let failed = rig.phase(&Burst::SameKey(frozen(5, 4)), Some(freezer)).await;
        assert!(matches!(failed, Err(LoadError::Freeze { .. })));
        assert_eq!(thaws.load(Ordering::SeqCst), 1);
        let history = rig.history();
        assert_eq!(history.attempts.len(), 20);
        for attempt in &history.attempts {
            assert_eq!((attempt.sent, attempt.released), (Sent::Part, None));
            assert!(attempt.failure.as_ref().unwrap().contains("one instance went on"));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_burst_that_is_dropped_while_frozen_still_resumes_the_target() {
    let other = Other::start(1);
    let freezer = Arc::new(Slow(Signals::of(&other), Arc::default(), Arc::default()));
    let (frozen_now, go_on) = (Arc::clone(&freezer.1), Arc::clone(&freezer.2));
    let thaws = Arc::clone(&freezer.0.thaws);
    let mut rig = Rig::new(targets(&[other.address]), hasty()).await;
    {
        let burst = Burst::SameKey(frozen(5, 4));
        let running = rig.phase(&burst, Some(freezer));
        tokio::select! {
            _ = running => panic!("the burst cannot end while freezing waits"),
            () = frozen_now.notified() => {}
        }
    }
    go_on.notify_one();
    let deadline = Instant::now() + std::time::Duration::from_secs(10);
    while thaws.load(Ordering::SeqCst) == 0 {
        assert!(Instant::now() < deadline, "nobody resumed the target");
        tokio::task::yield_now().await;
    }
}

/// Freezes, says so, and comes back only when it is told to.
#[derive(Debug)]
struct Slow(Signals, Arc<tokio::sync::Notify>, Arc<tokio::sync::Notify>);

impl Freezer for Slow {
    fn freeze(&self) -> Freezing<'_, ()> {
        Box::pin(async {
            self.0.freeze().await?;
            self.1.notify_one();
            self.2.notified().await;
            Ok(())
        })
    }

    fn thaw(&self) -> Freezing<'_, Vec<(InstanceId, Instant)>> {
        self.0.thaw()
    }
}
