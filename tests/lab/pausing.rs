//! A pause is read back, told to the guard, and always undone.

use std::process::{Child, Command};
use std::time::{Duration, Instant};

use dupeproof::chaos::{self, ChaosError};
use dupeproof::guard::{ProcessId, State};

use crate::{guard, until};

/// A process that does nothing, ended when dropped.
pub struct Sleeper(Child);

impl Sleeper {
    pub fn start() -> (Self, ProcessId) {
        let child = Command::new("sleep").arg("60").spawn().unwrap();
        let process = ProcessId::of(child.id()).unwrap();
        (Self(child), process)
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

pub fn is(process: ProcessId, state: State) -> Result<(), String> {
    let stat = process.stat();
    if stat.is_some_and(|stat| stat.state == state) { Ok(()) } else { Err(format!("{stat:?}")) }
}

#[tokio::test]
async fn a_paused_process_stands_still_until_it_is_resumed() {
    let guard = guard().await;
    let (_sleeper, process) = Sleeper::start();
    let paused = chaos::pause(&process, guard.journal()).await.unwrap();
    assert_eq!(is(process, State::Stopped), Ok(()));
    let before = Instant::now();
    let resumed = paused.resume().await.unwrap();
    assert_eq!(is(process, State::Live), Ok(()));
    assert_eq!(resumed.process, process);
    assert!(before <= resumed.sent && resumed.sent <= Instant::now());
    guard.finish().await.unwrap();
}

#[tokio::test]
async fn a_dropped_pause_is_undone() {
    let guard = guard().await;
    let (_sleeper, process) = Sleeper::start();
    drop(chaos::pause(&process, guard.journal()).await.unwrap());
    until(Duration::from_secs(2), || is(process, State::Live)).await;
    guard.finish().await.unwrap();
}

#[tokio::test]
async fn several_families_are_resumed_at_once_each_in_its_order() {
    let guard = guard().await;
    let sleepers: Vec<_> = (0..6).map(|_| Sleeper::start()).collect();
    let mut families = vec![Vec::new(), Vec::new(), Vec::new()];
    for ((_, process), place) in sleepers.iter().zip(0..) {
        families[place / 2].push(chaos::pause(process, guard.journal()).await.unwrap());
    }
    let resumed = chaos::resume_all(families).await;
    let resumed: Vec<_> = resumed.into_iter().collect::<Result<_, _>>().unwrap();
    assert!(resumed.chunks(2).all(|family| family.is_sorted_by_key(|one| one.sent)));
    for (one, (_, process)) in resumed.iter().zip(&sleepers) {
        assert_eq!(one.process, *process);
        assert_eq!(is(*process, State::Live), Ok(()));
    }
    guard.finish().await.unwrap();
}

#[tokio::test]
async fn one_that_ended_does_not_keep_the_others_paused() {
    let guard = guard().await;
    let mut sleepers: Vec<_> = (0..2).map(|_| Sleeper::start()).collect();
    let mut paused = Vec::new();
    for (_, process) in &sleepers {
        paused.push(vec![chaos::pause(process, guard.journal()).await.unwrap()]);
    }
    sleepers.remove(0);
    let resumed = chaos::resume_all(paused).await;
    assert!(resumed[0].is_err());
    assert_eq!(resumed[1].as_ref().unwrap().process, sleepers[0].1);
    assert_eq!(is(sleepers[0].1, State::Live), Ok(()));
    guard.finish().await.unwrap();
}

#[tokio::test]
async fn another_process_with_the_same_pid_is_left_alone() {
    let guard = guard().await;
    let (_sleeper, process) = Sleeper::start();
    let predecessor = ProcessId { start_time: process.start_time - 1, ..process };
    let refused = chaos::pause(&predecessor, guard.journal()).await.unwrap_err();
    assert!(matches!(refused, ChaosError::Act { .. }), "{refused}");
    assert_eq!(is(process, State::Live), Ok(()));
    guard.finish().await.unwrap();
}

#[tokio::test]
async fn a_process_that_ends_while_paused_is_an_error_at_its_resume() {
    let guard = guard().await;
    let (sleeper, process) = Sleeper::start();
    let paused = chaos::pause(&process, guard.journal()).await.unwrap();
    drop(sleeper);
    assert!(paused.resume().await.is_err());
    guard.finish().await.unwrap();
}
