//! What a drill stands on: the lab with its shop, a service that runs already, or one that dupeproof
//! starts.
//!
//! Three kinds, one life: found (servers of our own are up), opened (the setup has run, the target is
//! ready), drilled, closed. What happens in between asks no kind: it sees instances, perhaps with
//! processes, and a database.

mod launch;
mod places;
mod servers;

use places::AttachedPlace;
pub(super) use places::{Places, WirePlace, judge, postgres};

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use super::wires::Wires;
use super::{DrillError, Stage, lab, phases};
use crate::guard::{Guard, ProcessId};
use crate::history::InstanceId;
use crate::lab::{Lab, LabEvent, LabSpec, Servers};
use crate::load::{self, Herald, TargetInstance};
use crate::observe;
use crate::profile::{Attached, Profile, Secret, Target};
use crate::report::format::counted;

/// How long an instance that runs already may take until it answers.
const ATTACHED_READY_LIMIT: Duration = Duration::from_secs(5);
/// How long it may take over one answer.
const READY_PATIENCE: Duration = Duration::from_secs(2);
const ASK_AGAIN: Duration = Duration::from_millis(50);

/// An instance of the target.
#[derive(Clone, Debug)]
pub(super) struct Instance {
    pub name: String,
    /// For a reader.
    pub url: String,
    pub target: TargetInstance,
    /// Where it tells how many orders were posted.
    pub counter: Option<SocketAddr>,
    /// What can be paused, with all that came of it.
    pub process: Option<ProcessId>,
    /// Its addresses, as far as its connections can be seen from here.
    pub seen_at: Vec<SocketAddr>,
}

/// What is drilled.
#[derive(Debug)]
pub(super) struct Ground {
    /// Servers of our own; none beside an attached target.
    lab: Option<Lab>,
    /// What stands between the target and its servers, if anything does.
    wires: Option<Wires>,
    attached: Vec<AttachedPlace>,
    pub instances: Vec<Instance>,
    postgres_url: String,
    /// Whether a statement of the user's may have changed something.
    has_set_up: bool,
}

impl Ground {
    /// Starts what is ours.
    pub(super) async fn find(
        stage: &Stage<'_>,
        guard: &Guard,
        places: Places,
    ) -> Result<Self, DrillError> {
        let profile = &stage.order.profile;
        let logs = stage.folder.logs();
        let spec = match &profile.target {
            Target::Lab => Some(lab::spec(profile, logs, stage.run)?),
            Target::Launched(_) => Some(LabSpec {
                instances: 0,
                spare_redis: lab::swaps_redis(profile),
                ..LabSpec::new(logs)
            }),
            Target::Attached(_) => None,
        };
        let (wires, lab) = match spec {
            Some(spec) => {
                let servers = Servers::start(spec, guard).await.map_err(failed)?;
                let wires = between(stage, &servers).await?;
                let own = servers.addresses();
                let of = |number| wires.as_ref().map_or(own, |it| it.addresses(own, number));
                let lab = servers.start_instances(of).await.map_err(failed)?;
                (wires, Some(lab))
            }
            None if places.wires.is_empty() => (None, None),
            None => (Some(Wires::at(stage, &places.wires).await?), None),
        };
        let own = lab.as_ref().map(|lab| lab.postgres_url.clone());
        let theirs = profile.postgres.as_ref().map(|postgres| postgres.url.reveal().to_owned());
        let postgres_url = match &profile.target {
            Target::Lab => own,
            Target::Launched(_) | Target::Attached(_) => theirs.or(own),
        };
        Ok(Self {
            instances: lab.iter().flat_map(shops).collect(),
            lab,
            wires,
            attached: places.instances,
            postgres_url: postgres_url.unwrap_or_default(),
            has_set_up: false,
        })
    }

    /// Runs the setup and waits until the target is ready. A launched target finds the database set
    /// up; an attached one is asked first, so that nothing is changed when it isn't there.
    pub(super) async fn open(
        &mut self,
        stage: &Stage<'_>,
        guard: &Guard,
    ) -> Result<(), DrillError> {
        match &stage.order.profile.target {
            Target::Lab => self.set_up(stage).await,
            Target::Launched(launched) => {
                self.set_up(stage).await?;
                let lab = self.lab.as_mut().expect("it was started for what is launched");
                let (own, wires) = (lab.addresses, self.wires.as_ref());
                let of = |number| wires.map_or(own, |wires| wires.addresses(own, number));
                self.instances = launch::all(stage, guard, lab, launched, of).await?;
                Ok(())
            }
            Target::Attached(attached) => {
                self.instances = self.attached.iter().map(standing).collect();
                self.until_ready(attached).await?;
                self.set_up(stage).await
            }
        }
    }

    async fn until_ready(&self, attached: &Attached) -> Result<(), DrillError> {
        for instance in &self.instances {
            let deadline = Instant::now() + ATTACHED_READY_LIMIT;
            while let Err(reason) = ask_ready(&instance.target, attached.ready.as_deref()).await {
                if Instant::now() >= deadline {
                    return Err(DrillError::NotReady {
                        name: instance.name.clone(),
                        url: instance.url.clone(),
                        limit: ATTACHED_READY_LIMIT,
                        reason,
                    });
                }
                sleep(ASK_AGAIN).await;
            }
        }
        Ok(())
    }

    async fn set_up(&mut self, stage: &Stage<'_>) -> Result<(), DrillError> {
        let statements = &stage.order.profile.setup.sql;
        self.has_set_up = true;
        self.run_statements(stage, "setup", statements).await
    }

    /// Runs the teardown, if anything was set up.
    pub(super) async fn tear_down(&self, stage: &Stage<'_>) -> Result<(), DrillError> {
        if !self.has_set_up {
            return Ok(());
        }
        self.run_statements(stage, "teardown", &stage.order.profile.teardown.sql).await
    }

    async fn run_statements(
        &self,
        stage: &Stage<'_>,
        which: &'static str,
        statements: &[String],
    ) -> Result<(), DrillError> {
        let profile = &stage.order.profile;
        let subject = phases::subject(profile, stage.run)?;
        let stock = profile.products.stock;
        let stocks: Vec<u32> = phases::products(profile, stage.run)?.into_values().collect();
        observe::run_statements(&self.postgres_url, which, statements, &subject, stock, &stocks)
            .await
            .map_err(|source| DrillError::Statements { which, source })
    }

    /// The audited database.
    pub(super) fn postgres_url(&self) -> &str {
        &self.postgres_url
    }

    /// PostgreSQL's own log, where the audited database is the lab's.
    pub(super) fn postgres_log(&self, stage: &Stage<'_>) -> Option<PathBuf> {
        let lab = self.lab.as_ref()?;
        (lab.postgres_url == self.postgres_url).then(|| stage.folder.logs().join("postgres.log"))
    }

    /// The log of the lab's payment provider.
    pub(super) fn payments_log(&self) -> Option<PathBuf> {
        let payments = self.lab.as_ref()?.payments.as_ref()?;
        Some(payments.ledger.clone())
    }

    /// Where the target's connections can be seen; `None` when some of them can't.
    pub(super) fn seen_at(&self) -> Option<Vec<SocketAddr>> {
        let is_seen = self.instances.iter().all(|instance| !instance.seen_at.is_empty());
        let addresses = self.instances.iter().flat_map(|instance| instance.seen_at.clone());
        is_seen.then(|| addresses.collect())
    }

    /// What happens to the processes; there are none beside an attached target.
    pub(super) fn events(&mut self) -> Option<mpsc::Receiver<LabEvent>> {
        self.lab.as_mut()?.events()
    }

    /// What stands between the target and its servers.
    pub(super) const fn wires(&self) -> Option<&Wires> {
        self.wires.as_ref()
    }

    /// The target's Redis itself, past every proxy.
    pub(super) fn redis_url(&self, profile: &Profile) -> Option<String> {
        match &self.lab {
            Some(lab) => Some(lab.redis_url.clone()),
            None => profile.redis.url.as_ref().map(|url| url.reveal().to_owned()),
        }
    }

    /// A second Redis of the lab's, empty.
    pub(super) fn spare_redis(&self) -> Option<SocketAddr> {
        self.lab.as_ref()?.spare_redis
    }

    /// Whom the load tells of its intents.
    pub(super) fn herald(&self) -> Option<Arc<dyn Herald>> {
        self.wires.as_ref().map(Wires::herald)
    }

    /// Ends what is ours, process trees included. The wires go last: whoever would notice has ended
    /// by then, or isn't drilled any more.
    pub(super) async fn close(self, stage: &Stage<'_>) -> Result<(), DrillError> {
        let ended = match self.lab {
            Some(lab) => lab.stop().await.map_err(failed),
            None => Ok(()),
        };
        let stopped = match self.wires {
            Some(wires) => wires.stop(stage).await,
            None => Ok(()),
        };
        ended.and(stopped)
    }
}

/// Proxies in front of servers of ours, unless the profile wants none.
async fn between(stage: &Stage<'_>, servers: &Servers<'_>) -> Result<Option<Wires>, DrillError> {
    let profile = &stage.order.profile;
    let (wanted, instances) = match &profile.target {
        Target::Launched(launched) => (launched.proxies, launched.instances),
        Target::Lab | Target::Attached(_) => (profile.lab.proxies, servers.instances()),
    };
    match wanted {
        true => Wires::between(stage, servers.addresses(), instances).await.map(Some),
        false => Ok(None),
    }
}

/// Puts what follows from the target into the profile, so that what is written down is what runs,
/// from wherever it is run again: what isn't ours is never paused; a folder is an absolute one.
pub(super) fn settle_profile(profile: &mut Profile) -> Result<(), DrillError> {
    match &mut profile.target {
        Target::Lab => {}
        Target::Attached(_) => {
            profile.phases.iter_mut().for_each(|phase| phase.burst.release_in_a_loop());
        }
        Target::Launched(launched) => {
            let folder = launch::folder(&profile.path, launched)?;
            launched.folder = Some(folder.display().to_string());
        }
    }
    Ok(())
}

/// The ground in words, and the name under which the result has them.
pub(super) fn about(profile: &Profile) -> (&'static str, String) {
    match &profile.target {
        Target::Lab => ("lab", lab::about(&profile.lab)),
        Target::Launched(launched) => {
            let instances = counted(u64::from(launched.instances), "instance", "instances");
            let command = launched.command.join(" ");
            (
                "target",
                format!("{instances} of `{command}`, launched with a private PostgreSQL and Redis"),
            )
        }
        Target::Attached(attached) => {
            let urls: Vec<&str> = attached.urls.iter().map(Secret::written).collect();
            let instances = counted(urls.len() as u64, "running instance", "running instances");
            ("target", format!("{instances}: {}", urls.join(", ")))
        }
    }
}

/// Whether an instance is ready: 2xx on its path, or a connection where it has none.
async fn ask_ready(target: &TargetInstance, path: Option<&str>) -> Result<(), String> {
    let Some(path) = path else {
        let connecting = tokio::net::TcpStream::connect(&target.address);
        let why = match tokio::time::timeout(READY_PATIENCE, connecting).await {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("nobody answers within {READY_PATIENCE:?}"),
        };
        return Err(format!("cannot connect to {}: {why}", target.address));
    };
    match load::get(target, path, READY_PATIENCE).await {
        Err(load::LoadError::Get { reason, .. }) => Err(reason),
        Err(error) => Err(error.to_string()),
        Ok(reply) if (200..300).contains(&reply.status) => Ok(()),
        Ok(reply) => Err(format!("GET {path} says {}, not 2xx", reply.status)),
    }
}

fn shops(lab: &Lab) -> Vec<Instance> {
    let shops = lab.instances.iter().zip(0..).map(|(shop, id)| Instance {
        name: shop.name.clone(),
        url: format!("http://{}", shop.address),
        target: TargetInstance::plain(InstanceId(id), shop.address),
        counter: Some(shop.counter),
        process: Some(shop.process),
        seen_at: vec![shop.address],
    });
    shops.collect()
}

fn standing(place: &AttachedPlace) -> Instance {
    Instance {
        name: format!("target-{}", place.target.id),
        url: place.url.clone(),
        target: place.target.clone(),
        counter: None,
        process: None,
        seen_at: place.local.clone(),
    }
}

fn failed(source: crate::lab::LabError) -> DrillError {
    DrillError::Lab { source: Box::new(source) }
}
