//! One drill from plan to verdict: plan, start, run, settle, judge, write.
//!
//! The conductor holds the order of things and nothing else; what is done lies in the hands, what it
//! means in the judgement. Whatever goes wrong in the middle, the teardown runs, the lab is stopped,
//! the journal is sealed, and what was recorded is kept.

mod error;
mod event;
mod faults;
mod freezing;
mod ground;
mod lab;
mod live;
mod phases;
mod redaction;
mod supervisor;
mod verdict;
mod wires;

pub use error::{Broken, DrillError};
pub use event::{Event, Watcher};
pub use lab::{most_connections, shop_flags};
pub use live::audit_live;
pub use verdict::judge;
pub use wires::guide;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::guard::Guard;
use crate::history::{
    Clock, ClockFacts, Fact, Moment, Recorder, RunFacts, RunFolder, RunId, SCHEMA_VERSION, Secrets,
};
use crate::observe::Observer;
use crate::profile::{Limits, Profile, Target};
use crate::report::RunResult;
use crate::settle::Settling;
use ground::{Ground, Places};
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

/// What a drill came to.
#[derive(Debug)]
pub struct Outcome {
    pub result: RunResult,
    /// A teardown that failed: what was judged stands, and somebody has to tidy up.
    pub trouble: Option<DrillError>,
}

/// The secrets of a profile, to be kept out of what is shown and written.
pub fn secrets(profile: &Profile) -> Secrets {
    let secrets = Secrets::default();
    for (value, shown) in profile.secrets() {
        secrets.hide(&value, &shown);
    }
    secrets
}

/// Runs a drill.
///
/// # Errors
/// When it couldn't be carried out; a drill that finds something is no error.
pub async fn run(mut order: Order, watcher: Arc<dyn Watcher>) -> Result<Outcome, Broken> {
    let nowhere = |error| Broken { error: Box::new(error), folder: None };
    ground::settle_profile(&mut order.profile).map_err(nowhere)?;
    // Before anything is written, started or sent.
    let places = ground::judge(&order.profile).await.map_err(nowhere)?;
    faults::judge(&order.profile).map_err(nowhere)?;
    let run = RunId::fresh();
    let clock = Clock::start();
    let folder = prepare_folder(&order, run, clock).map_err(nowhere)?;
    let conducted = conduct(&order, places, run, clock, &folder, watcher).await;
    conducted
        .map_err(|error| Broken { error: Box::new(error), folder: Some(folder.path().to_owned()) })
}

async fn conduct(
    order: &Order,
    places: Places,
    run: RunId,
    clock: Clock,
    folder: &RunFolder,
    watcher: Arc<dyn Watcher>,
) -> Result<Outcome, DrillError> {
    let secrets = secrets(&order.profile);
    let (recorder, journal) = Recorder::hiding(&folder.journal(), secrets.clone())
        .map_err(|source| DrillError::Journal { source })?;
    recorder.record(Fact::Run(Box::new(run_facts(order, run, clock)))).await;
    let stage =
        Stage { order, run, clock, folder, recorder: &recorder, watcher: Arc::clone(&watcher) };
    let (carried_out, torn_down) = under_guard(&stage, places).await;
    let redacted = redaction::redact_logs(&folder.logs(), &secrets);
    let ended = ClockFacts { at: clock.now(), drift_us: clock.wall_drift_us() };
    recorder.record(Fact::Clock(ended)).await;
    drop(recorder);
    let sealed = tokio::task::spawn_blocking(move || journal.seal())
        .await
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
    // A journal that couldn't be written is the cause; what else went wrong then follows from it.
    sealed.map_err(|source| DrillError::Journal { source })?;
    carried_out?;
    redacted.map_err(|source| DrillError::Redact { source })?;
    watcher.see(Event::Judging);
    let mut result = judge(folder, &order.profile, folder.path())?;
    if torn_down.is_err() && result.exit_code != 1 {
        // Somebody has to tidy up, and the result says so as the program's end does.
        result.exit_code = 4;
        verdict::seal(folder, &result)?;
    }
    folder.become_latest().map_err(|source| DrillError::Folder { source })?;
    Ok(Outcome { result, trouble: torn_down.err() })
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
    let (kind, about) = ground::about(profile);
    let is_lab = matches!(profile.target, Target::Lab);
    RunFacts {
        schema_version: SCHEMA_VERSION,
        run,
        seed: profile.seed,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        profile: profile.path.display().to_string(),
        started: clock.wall_started(),
        defects: if is_lab { profile.lab.defects.clone() } else { Vec::new() },
        environment: BTreeMap::from([
            (kind.to_owned(), about),
            ("contract".to_owned(), profile.contract.preset.to_owned()),
            (
                "cpus".to_owned(),
                std::thread::available_parallelism().map_or(0, usize::from).to_string(),
            ),
        ]),
    }
}

/// What became of the drill, and of its teardown.
type Ended = (Result<(), DrillError>, Result<(), DrillError>);

/// Starts guard and ground, drills, and ends both, whatever happens in between.
async fn under_guard(stage: &Stage<'_>, places: Places) -> Ended {
    let guarded = |source| DrillError::Guard { source };
    let guard = match Guard::start(&stage.order.exe).await {
        Ok(guard) => guard,
        Err(source) => return (Err(guarded(source)), Ok(())),
    };
    let (drilled, torn_down) = on_ground(stage, &guard, places).await;
    let finished = guard.finish().await.map_err(guarded);
    (drilled.and(finished), torn_down)
}

async fn on_ground(stage: &Stage<'_>, guard: &Guard, places: Places) -> Ended {
    let began = stage.clock.now();
    let mut ground = match Ground::find(stage, guard, places).await {
        Ok(ground) => ground,
        Err(error) => return (Err(error), Ok(())),
    };
    let opened = tokio::select! {
        opened = ground.open(stage, guard) => opened,
        () = stage.order.stop.cancelled() => Err(DrillError::Interrupted),
    };
    let drilled = match opened {
        Ok(()) => {
            tell_ready(stage, stage.clock.now().since(began));
            let supervisor = Supervisor::start(stage, ground.events());
            let drilled = supervisor.unless_dead(drill(stage, guard, &ground, &supervisor)).await;
            supervisor.end().await;
            drilled
        }
        Err(error) => Err(error),
    };
    let torn_down = ground.tear_down(stage).await;
    let closed = ground.close(stage).await;
    (drilled.and(closed), torn_down)
}

fn tell_ready(stage: &Stage<'_>, took: Duration) {
    let profile = &stage.order.profile;
    stage.watcher.see(match profile.target {
        Target::Lab => Event::LabReady { took },
        Target::Launched(_) | Target::Attached(_) => {
            let (_, about) = ground::about(profile);
            Event::TargetReady { took, about }
        }
    });
}

/// The drill proper, on ground that is ready.
async fn drill(
    stage: &Stage<'_>,
    guard: &Guard,
    ground: &Ground,
    supervisor: &Supervisor,
) -> Result<(), DrillError> {
    let profile = &stage.order.profile;
    let observed = |source| DrillError::Observe { source };
    let disk = |source| DrillError::Folder { source };
    let subject = phases::subject(profile, stage.run)?;
    let url = ground.postgres_url();
    let observer =
        Observer::connect(url, &profile.audit, subject, stage.clock).await.map_err(observed)?;
    let observer = match profile.actor.users.as_slice() {
        [] => observer,
        _ => observer.with_existing_users(),
    };
    let baseline = observer.baseline().await.map_err(observed)?;
    stage.folder.write_rows(Moment::Baseline, &baseline).map_err(disk)?;

    let mut load = phases::Load::new(stage, guard, ground, supervisor);
    load.run_phases().await?;
    if stage.order.stop.is_cancelled() {
        stage.recorder.record(Fact::Interrupted { at: stage.clock.now() }).await;
    }

    stage.watcher.see(Event::Draining);
    observer.expect_orders(load.acknowledged());
    let seen_at = ground.seen_at();
    // Where connections can't be seen, a request may be handled for as long as a client waits.
    let quiet = seen_at.as_ref().map_or(profile.client.timeout, |_| profile.limits.quiet);
    let settling = Settling {
        observer: &observer,
        recorder: stage.recorder,
        folder: stage.folder,
        clock: stage.clock,
        limits: Limits { quiet: quiet.max(profile.limits.quiet), ..profile.limits },
        client_timeout: profile.client.timeout,
        targets: seen_at.unwrap_or_default(),
        postgres_log: ground.postgres_log(stage),
        payments_log: ground.payments_log(),
    };
    let settled = |source| DrillError::Settle { source };
    settling.drain(Moment::BeforeRepair, load.longest_handling()).await.map_err(settled)?;
    if load.ask_again().await? {
        observer.expect_orders(load.acknowledged());
        settling.drain(Moment::After, load.longest_handling()).await.map_err(settled)?;
    } else {
        settling.nothing_more_to_come().map_err(settled)?;
    }
    load.hear_last().await;
    load.record_counters().await?;
    observer.close().await;
    Ok(())
}
