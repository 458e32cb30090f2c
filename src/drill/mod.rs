//! One drill from plan to verdict: plan, start, run, settle, judge, write.
//!
//! The conductor holds the order of things and nothing else; what is done lies in the hands, what it
//! means in the judgement. Whatever goes wrong in the middle, the lab is stopped, the journal is
//! sealed, and what was recorded is kept.

mod error;
mod event;
mod freezing;
mod lab;
mod phases;
mod supervisor;
mod verdict;

pub use error::{Broken, DrillError};
pub use event::{Event, Watcher};
pub use verdict::judge;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::guard::Guard;
use crate::history::{
    Clock, ClockFacts, Fact, Moment, Recorder, RunFacts, RunFolder, RunId, SCHEMA_VERSION,
};
use crate::lab::Lab;
use crate::observe::Observer;
use crate::profile::Profile;
use crate::report::RunResult;
use crate::settle::Settling;
use supervisor::Supervisor;

/// What is asked of a drill.
#[derive(Debug)]
pub struct Order {
    pub profile: Profile,
    /// dupeproof's own program file, run again as guard and as shop.
    pub exe: PathBuf,
    /// Where results folders are made.
    pub results: PathBuf,
    /// Cancelled by Ctrl-C: the load stops, the audit follows.
    pub stop: CancellationToken,
}

/// What every step of a drill needs.
struct Stage<'a> {
    order: &'a Order,
    run: RunId,
    clock: Clock,
    folder: &'a RunFolder,
    recorder: &'a Recorder,
    watcher: Arc<dyn Watcher>,
}

/// Runs a drill.
///
/// # Errors
/// When it couldn't be carried out; a drill that finds something is no error.
pub async fn run(order: Order, watcher: Arc<dyn Watcher>) -> Result<RunResult, Broken> {
    let run = RunId::fresh();
    let clock = Clock::start();
    let folder = prepare_folder(&order, run, clock)
        .map_err(|error| Broken { error: Box::new(error), folder: None })?;
    let conducted = conduct(&order, run, clock, &folder, watcher).await;
    conducted
        .map_err(|error| Broken { error: Box::new(error), folder: Some(folder.path().to_owned()) })
}

async fn conduct(
    order: &Order,
    run: RunId,
    clock: Clock,
    folder: &RunFolder,
    watcher: Arc<dyn Watcher>,
) -> Result<RunResult, DrillError> {
    let (recorder, journal) =
        Recorder::create(&folder.journal()).map_err(|source| DrillError::Journal { source })?;
    recorder.record(Fact::Run(Box::new(run_facts(order, run, clock)))).await;
    let stage =
        Stage { order, run, clock, folder, recorder: &recorder, watcher: Arc::clone(&watcher) };
    let carried_out = in_guarded_lab(&stage).await;
    let ended = ClockFacts { at: clock.now(), drift_us: clock.wall_drift_us() };
    recorder.record(Fact::Clock(ended)).await;
    drop(recorder);
    let sealed = tokio::task::spawn_blocking(move || journal.seal())
        .await
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
    // A journal that couldn't be written is the cause; what else went wrong then follows from it.
    sealed.map_err(|source| DrillError::Journal { source })?;
    carried_out?;
    watcher.see(Event::Judging);
    let result = judge(folder, &order.profile, folder.path())?;
    folder.become_latest().map_err(|source| DrillError::Folder { source })?;
    Ok(result)
}

fn prepare_folder(order: &Order, run: RunId, clock: Clock) -> Result<RunFolder, DrillError> {
    let disk = |source| DrillError::Folder { source };
    let name = order.profile.path.file_stem().unwrap_or_default().to_string_lossy();
    let name: String =
        name.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '-' }).collect();
    let folder =
        RunFolder::create(&order.results, clock.wall_started(), &name, run).map_err(disk)?;
    folder.write("profile.toml", &order.profile.to_toml()).map_err(disk)?;
    Ok(folder)
}

fn run_facts(order: &Order, run: RunId, clock: Clock) -> RunFacts {
    let profile = &order.profile;
    RunFacts {
        schema_version: SCHEMA_VERSION,
        run,
        seed: profile.seed,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        profile: profile.path.display().to_string(),
        started: clock.wall_started(),
        defects: profile.lab.defects.clone(),
        environment: BTreeMap::from([
            ("lab".to_owned(), lab::about(&profile.lab)),
            ("contract".to_owned(), profile.contract.preset.to_owned()),
            (
                "cpus".to_owned(),
                std::thread::available_parallelism().map_or(0, usize::from).to_string(),
            ),
        ]),
    }
}

/// Starts guard and lab, drills, and ends both, whatever happens in between.
async fn in_guarded_lab(stage: &Stage<'_>) -> Result<(), DrillError> {
    let guarded = |source| DrillError::Guard { source };
    let guard = Guard::start(&stage.order.exe).await.map_err(guarded)?;
    let drilled = in_lab(stage, &guard).await;
    let finished = guard.finish().await.map_err(guarded);
    drilled.and(finished)
}

async fn in_lab(stage: &Stage<'_>, guard: &Guard) -> Result<(), DrillError> {
    let failed = |source| DrillError::Lab { source: Box::new(source) };
    let began = stage.clock.now();
    let spec = lab::spec(&stage.order.profile, stage.folder.logs(), stage.run);
    let mut lab = Lab::start(spec, guard).await.map_err(failed)?;
    let took = stage.clock.now().since(began);
    stage.watcher.see(Event::LabReady { took });
    let supervisor = Supervisor::start(stage, &mut lab);
    let drilled = supervisor.unless_dead(drill(stage, guard, &lab, &supervisor)).await;
    supervisor.end().await;
    let stopped = lab.stop().await.map_err(failed);
    drilled.and(stopped)
}

/// The drill proper, in a lab that is up.
async fn drill(
    stage: &Stage<'_>,
    guard: &Guard,
    lab: &Lab,
    supervisor: &Supervisor,
) -> Result<(), DrillError> {
    let profile = &stage.order.profile;
    let observed = |source| DrillError::Observe { source };
    let disk = |source| DrillError::Folder { source };
    let subject = phases::subject(profile, stage.run);
    let observer = Observer::connect(&lab.postgres_url, &profile.audit, subject, stage.clock)
        .await
        .map_err(observed)?;
    let baseline = observer.baseline().await.map_err(observed)?;
    stage.folder.write_rows(Moment::Baseline, &baseline).map_err(disk)?;

    let mut load = phases::Load::new(stage, guard, lab, supervisor);
    load.run_phases().await?;
    if stage.order.stop.is_cancelled() {
        stage.recorder.record(Fact::Interrupted { at: stage.clock.now() }).await;
    }

    stage.watcher.see(Event::Draining);
    let settling = Settling {
        observer: &observer,
        recorder: stage.recorder,
        folder: stage.folder,
        clock: stage.clock,
        limits: profile.limits,
        client_timeout: profile.client.timeout,
        targets: lab.instances.iter().map(|instance| instance.address).collect(),
        postgres_log: Some(stage.folder.logs().join("postgres.log")),
    };
    let settled = |source| DrillError::Settle { source };
    settling.drain(Moment::BeforeRepair, load.longest_handling()).await.map_err(settled)?;
    if load.ask_again().await? {
        settling.drain(Moment::After, load.longest_handling()).await.map_err(settled)?;
    } else {
        settling.nothing_more_to_come().map_err(settled)?;
    }
    load.record_counters().await?;
    observer.close().await;
    Ok(())
}
