//! The proxies of a run: started between servers and instances, told of the intents to come, ended
//! when the drill is over.
//!
//! In the lab and for a launched command each instance has proxies of its own, on ports that are
//! free; an attached target is known to connect to the addresses that its profile names.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::mem::{Discriminant, discriminant};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use super::ground::WirePlace;
use super::{DrillError, Event, Stage, Watcher, lab};
use crate::history::{Fact, InstanceId, Intent, Wire};
use crate::lab::Addresses;
use crate::load::{Herald, Heralding};
use crate::profile::{Profile, Target};
use crate::wire::{Expected, Guide, Notice, Proxies, ProxyEvent, ProxySpec, Watch};

/// Links of the lab's shop beside its pool of PostgreSQL: to Redis and to the payment provider.
const LINKS_BESIDE_A_POOL: u64 = 40;
/// Links that an instance of somebody else's service may have.
const LINKS_OF_A_STRANGER: u64 = 100;

/// Proxies that run. Dropping them ends them too, and tells nothing of what they saw.
#[derive(Debug)]
pub(super) struct Wires {
    /// Shared with nobody but a [`WireHerald`] while it tells.
    proxies: Arc<Proxies>,
    specs: Vec<ProxySpec>,
    /// Taken by whoever has faults to keep.
    notices: Mutex<Option<mpsc::Receiver<Notice>>>,
    telling: AbortOnDropHandle<()>,
}

/// Whether the target is told where this server is. A launched command that never hears of Redis has no
/// use for a proxy in front of it, and a proxy that nobody uses would be a doubt.
fn asks_for(target: &Target, wire: Wire) -> bool {
    let Target::Launched(launched) = target else { return true };
    let hole = format!("{{{}.url}}", wire.name());
    let env = launched.env.iter().map(|(_, value)| value.reveal());
    launched.command.iter().map(String::as_str).chain(env).any(|text| text.contains(&hole))
}

impl Wires {
    /// Proxies for each instance, in front of these servers.
    pub(super) async fn between(
        stage: &Stage<'_>,
        servers: Addresses,
        instances: u16,
    ) -> Result<Self, DrillError> {
        let target = &stage.order.profile.target;
        let upstreams = [
            (Wire::Postgres, Some(servers.postgres)),
            (Wire::Redis, Some(servers.redis)),
            (Wire::Http, servers.payments),
        ];
        let of_instance = |number| {
            let asked_for = upstreams.iter().filter(|(wire, _)| asks_for(target, *wire));
            let proxied = asked_for.filter_map(|&(wire, server)| Some((wire, server?)));
            let free = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
            proxied.map(move |(wire, server)| ProxySpec {
                instance: Some(InstanceId(number)),
                ..ProxySpec::new(wire, free, server.into())
            })
        };
        Self::start(stage, (0..instances).flat_map(of_instance).collect()).await
    }

    /// Proxies where the profile says so.
    pub(super) async fn at(stage: &Stage<'_>, places: &[WirePlace]) -> Result<Self, DrillError> {
        // The profile says where they may listen beside loopback, and has been checked.
        let specs = places.iter().map(|place| ProxySpec {
            beyond_loopback: true,
            ..ProxySpec::new(place.wire, place.listen, place.server.clone())
        });
        Self::start(stage, specs.collect()).await
    }

    async fn start(stage: &Stage<'_>, specs: Vec<ProxySpec>) -> Result<Self, DrillError> {
        let watch = Watch {
            clock: stage.clock,
            recorder: Some(stage.recorder.clone()),
            guide: guide(&stage.order.profile),
        };
        let started = Proxies::start(specs.clone(), watch).await;
        let mut proxies = started.map_err(|source| DrillError::Wire { source })?;
        let telling = tell(proxies.events(), Arc::clone(&stage.watcher));
        let telling = AbortOnDropHandle::new(tokio::spawn(telling));
        let notices = Mutex::new(proxies.notices());
        Ok(Self { proxies: Arc::new(proxies), specs, notices, telling })
    }

    /// Where an instance finds its servers; those without a proxy are where they are.
    pub(super) fn addresses(&self, servers: Addresses, number: u16) -> Addresses {
        let own = |wire| {
            let mut proxies = self.specs.iter().zip(self.proxies.addresses());
            let found = proxies
                .find(|(spec, _)| spec.wire == wire && spec.instance == Some(InstanceId(number)));
            found.map(|(_, address)| *address)
        };
        Addresses {
            postgres: own(Wire::Postgres).unwrap_or(servers.postgres),
            redis: own(Wire::Redis).unwrap_or(servers.redis),
            payments: servers.payments.map(|server| own(Wire::Http).unwrap_or(server)),
        }
    }

    /// The proxies themselves, for as long as they run.
    pub(super) fn proxies(&self) -> Weak<Proxies> {
        Arc::downgrade(&self.proxies)
    }

    /// What happens to faults. There is one receiver: `None` the second time.
    pub(super) fn notices(&self) -> Option<mpsc::Receiver<Notice>> {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Whom the load tells of its intents.
    pub(super) fn herald(&self) -> Arc<dyn Herald> {
        Arc::new(WireHerald { proxies: Arc::downgrade(&self.proxies) })
    }

    /// Files that the links may have open together: a link has a socket on each side.
    pub(super) fn most_files(profile: &Profile) -> u64 {
        let links = match &profile.target {
            Target::Lab => u64::from(profile.lab.pool_size) + LINKS_BESIDE_A_POOL,
            Target::Launched(_) | Target::Attached(_) => LINKS_OF_A_STRANGER,
        };
        2 * u64::from(instances(profile)) * links
    }

    /// Resets what is still connected, and writes down what each wire saw.
    pub(super) async fn stop(self, stage: &Stage<'_>) -> Result<(), DrillError> {
        // The load is over, and with it everybody who told of intents.
        let Some(proxies) = Arc::into_inner(self.proxies) else { return Ok(()) };
        let stopped = proxies.stop().await;
        let _ = self.telling.await;
        for facts in stopped.map_err(|source| DrillError::Wire { source })? {
            stage.recorder.record(Fact::Wire(facts)).await;
        }
        Ok(())
    }
}

/// How many instances the target has.
pub(super) fn instances(profile: &Profile) -> u32 {
    match &profile.target {
        Target::Lab => u32::from(profile.lab.instances),
        Target::Launched(launched) => u32::from(launched.instances),
        Target::Attached(attached) => attached.urls.len() as u32,
    }
}

/// Tells the wires by which words they know the intents.
#[derive(Debug)]
struct WireHerald {
    proxies: Weak<Proxies>,
}

impl Herald for WireHerald {
    fn herald<'a>(&'a self, intents: &'a [Intent]) -> Heralding<'a> {
        Box::pin(async {
            let Some(proxies) = self.proxies.upgrade() else { return Ok(()) };
            let expected = intents.iter().map(|intent| Expected {
                intent: intent.id,
                user: intent.user.clone(),
                key: intent.key.clone(),
                product: Some(intent.product),
                entity: intent.entity.clone(),
            });
            proxies.expect(expected.collect()).await.map_err(|error| error.to_string())
        })
    }
}

/// What the profile knows of tables and keys.
pub fn guide(profile: &Profile) -> Guide {
    let (lock_keys, record_keys) = match profile.target {
        Target::Lab => lab::keys(&profile.lab),
        _ => (profile.redis.lock_keys.clone(), profile.redis.idempotency_keys.clone()),
    };
    Guide {
        orders: Some(profile.audit.orders.table.clone()),
        stock: profile.audit.stock.as_ref().map(|stock| stock.table.clone()),
        lock_keys,
        record_keys,
        roles: profile.wires.roles.clone(),
    }
}

/// Tells the first of each kind of event, and at the end how many more there were.
async fn tell(events: Option<mpsc::Receiver<ProxyEvent>>, watcher: Arc<dyn Watcher>) {
    let Some(mut events) = events else { return };
    let mut told: HashMap<Discriminant<ProxyEvent>, (String, u64)> = HashMap::new();
    while let Some(event) = events.recv().await {
        match told.entry(discriminant(&event)) {
            Entry::Occupied(mut known) => known.get_mut().1 += 1,
            Entry::Vacant(new) => {
                let what = event.to_string();
                new.insert((what.clone(), 0));
                watcher.see(Event::Wire { what, more: 0 });
            }
        }
    }
    for (what, more) in told.into_values().filter(|(_, more)| *more > 0) {
        watcher.see(Event::Wire { what, more });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Seen(Mutex<Vec<(String, u64)>>);

    impl Watcher for Seen {
        fn see(&self, event: Event) {
            let Event::Wire { what, more } = event else { return };
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push((what, more));
        }
    }

    #[tokio::test]
    async fn the_first_event_of_a_kind_is_told_at_once_and_the_others_are_counted() {
        let (events, receiver) = mpsc::channel(10);
        let seen = Arc::new(Seen::default());
        let refused = |why: &str| ProxyEvent::NotAccepted { why: why.to_owned() };
        let unread = ProxyEvent::Encrypted { link: crate::history::LinkId(3), wire: Wire::Redis };
        for event in [refused("one"), refused("two"), unread.clone(), refused("three")] {
            events.send(event).await.unwrap();
        }
        drop(events);
        tell(Some(receiver), Arc::clone(&seen) as Arc<dyn Watcher>).await;
        let first = refused("one").to_string();
        let told = seen.0.lock().unwrap();
        assert_eq!(*told, [(first.clone(), 0), (unread.to_string(), 0), (first, 2)]);
    }
}
