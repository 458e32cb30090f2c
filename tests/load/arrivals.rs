//! When the attempts of a key leave, if not in one instant.

use std::time::Duration;

use dupeproof::history::{Attempt, History};
use dupeproof::profile::{Arrival, Burst, Crowd, Release};

use crate::kinds::crowd;
use crate::recording::{Answer, Recording};
use crate::rig::{Rig, by_intent, client, targets};
use crate::server::created;

/// Plays a crowd whose release says frozen: these arrivals need nobody to freeze anything.
async fn play(arrival: Arrival, crowd: Crowd, recording: &Recording) -> History {
    let mut rig = Rig::new(targets(&[recording.server.address]), client()).await;
    let crowd = Crowd { arrival, release: Release::Frozen, ..crowd };
    rig.play(&Burst::SameKey(crowd)).await;
    rig.history()
}

fn departures(attempts: &[&Attempt]) -> Vec<Duration> {
    let mut left: Vec<_> = attempts.iter().map(|one| one.last_byte.unwrap()).collect();
    left.sort_unstable();
    left.iter().map(|at| at.since(left[0])).collect()
}

fn median(mut spans: Vec<Duration>) -> Duration {
    spans.sort_unstable();
    spans[spans.len() / 2]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn staggered_attempts_of_a_key_leave_this_far_apart_while_keys_overlap() {
    let recording = Recording::of_orders().await;
    // A thread that is preempted for some milliseconds is no news beside this.
    let gap = Duration::from_millis(40);
    let history = play(Arrival::Staggered(gap), crowd(10, 6), &recording).await;
    let keys = by_intent(&history);
    let gaps = keys.values().flat_map(|attempts| {
        departures(attempts).windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>()
    });
    let gap_seen = median(gaps.collect());
    assert!(gap_seen.abs_diff(gap) < gap / 4, "{gap_seen:?}");
    let first = |attempts: &Vec<&Attempt>| attempts.iter().map(|one| one.last_byte.unwrap()).min();
    let begun = keys.values().filter_map(first).max();
    let ended = keys.values().filter_map(|one| one.iter().map(|one| one.last_byte.unwrap()).max());
    assert!(begun < ended.min(), "the last key begins before the first one ends");
    assert_eq!(history.bursts[0].release, "loop");
    assert_eq!(recording.seen().len(), 60);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spread_attempts_leave_evenly_over_the_time_that_the_first_one_takes() {
    // Long for the same reason.
    let takes = Duration::from_millis(240);
    let recording = Recording::answering(move |_, _| Answer { takes, ..created("1").into() }).await;
    let history = play(Arrival::Spread, crowd(21, 6), &recording).await;
    // The key of the first round goes by a guess, all others by what was seen.
    let keys: Vec<_> = by_intent(&history).into_values().skip(1).collect();
    let last = keys.iter().map(|attempts| departures(attempts)[5]).collect();
    let last = median(last);
    assert!(last > takes * 3 / 4 && last < takes * 5 / 4, "{last:?}");
    let third = median(keys.iter().map(|attempts| departures(attempts)[3]).collect());
    assert!(third.abs_diff(last * 3 / 5) < takes / 5, "{third:?} of {last:?}");
    assert_eq!(recording.seen().len(), 126, "nothing was sent to measure");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn around_completion_the_first_is_alone_until_its_reply() {
    let recording = Recording::answering(|_, number| {
        // The firsts are answered once all eight have come.
        Answer { after: if number < 8 { 8 } else { 0 }, ..created("1").into() }
    })
    .await;
    let history = play(Arrival::AroundCompletion, crowd(8, 5), &recording).await;
    let seen = recording.seen();
    let mut keys = std::collections::BTreeMap::<_, Vec<_>>::new();
    for one in &seen {
        keys.entry(one.arrived.key()).or_default().push(one);
    }
    assert_eq!((seen.len(), keys.len()), (40, 8));
    for requests in keys.values() {
        let answered = requests[0].answered.unwrap();
        assert!(requests[1..].iter().all(|one| one.at >= answered));
    }
    let lags = by_intent(&history).into_values().map(|attempts| {
        let first = attempts.iter().min_by_key(|one| one.last_byte).unwrap();
        let others = attempts.iter().filter(|one| one.id != first.id);
        let next = others.filter_map(|one| one.last_byte).min().unwrap();
        assert!(next >= first.completed.unwrap());
        next.since(first.completed.unwrap())
    });
    let lag = median(lags.collect());
    assert!(lag < Duration::from_millis(2), "{lag:?} after the reply");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn around_completion_nobody_waits_for_ever_for_a_first_that_gets_no_reply() {
    let recording = Recording::answering(|_, number| Answer {
        after: if number < 2 { usize::MAX } else { 0 },
        ..created("1").into()
    })
    .await;
    let mut rig = Rig::new(targets(&[recording.server.address]), crate::rig::hasty()).await;
    let crowd = Crowd { arrival: Arrival::AroundCompletion, ..crowd(2, 3) };
    let summary = rig.play(&Burst::SameKey(crowd)).await;
    assert_eq!((summary.tally.unknown, summary.tally.acknowledged), (2, 4));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_in_the_middle_of_a_schedule_writes_everything_down() {
    let recording = Recording::of_orders().await;
    let mut rig = Rig::new(targets(&[recording.server.address]), client()).await;
    let arrival = Arrival::Staggered(Duration::from_secs(5));
    let burst = Burst::SameKey(Crowd { arrival, ..crowd(2, 4) });
    let (stop, progress) = (rig.stop.clone(), std::sync::Arc::clone(&rig.progress));
    let stopping = async {
        while progress.now().answered < 1 {
            tokio::task::yield_now().await;
        }
        stop.cancel();
    };
    let (summary, ()) = tokio::join!(rig.phase(&burst, None), stopping);
    assert!(summary.unwrap().interrupted);
    let history = rig.history();
    assert_eq!(history.attempts.len(), 8);
    let sent = history.attempts.iter().filter(|one| one.last_byte.is_some()).count();
    assert_eq!(sent, recording.seen().len());
    assert!(sent < 8);
}
