//! Crowds of every kind, from the bytes that arrived.

use std::collections::{BTreeMap, BTreeSet};

use dupeproof::history::{Attempt, Cause, History};
use dupeproof::profile::{Burst, Crowd, LastUnit, Mixed, Mutated, Request, SharedKey};
use serde_json::{Value, json};

use crate::recording::{Recording, Seen};
use crate::rig::{Rig, Setup, burst, request, targets};

/// A body with everything that can be written in another way.
pub fn rich() -> Request {
    Request {
        number_forms: true,
        defaults: vec![("/coupon".to_owned(), Value::Null)],
        mutate: vec![
            ("/quantity".to_owned(), vec![json!(2), json!(3)]),
            ("/coupon".to_owned(), vec![json!("HALF")]),
        ],
        ..request()
    }
}

pub fn crowd(users: u32, threads: u32) -> Crowd {
    burst(users, threads)
}

/// Plays one phase against a server that answers everything; what arrived, and what was written.
async fn play(burst: &Burst) -> (Vec<Seen>, History) {
    let recording = Recording::of_orders().await;
    let targets = targets(&[recording.server.address]);
    let setup = Setup { targets, requests: vec![rich()], ..Setup::default() };
    let mut rig = Rig::set_up(setup).await;
    let planned = rig.planned(burst);
    rig.play(burst).await;
    let (seen, history) = (recording.seen(), rig.history());
    let count = |cause| history.attempts.iter().filter(|one| one.cause == cause).count() as u64;
    assert_eq!(history.intents.len() as u32, planned.intents);
    assert_eq!((count(Cause::Burst), count(Cause::Replay)), (planned.attempts, planned.replays));
    assert_eq!(seen.len(), history.attempts.len(), "one request on the wire for each attempt");
    (seen, history)
}

/// The body as JSON has it, without what may differ.
fn canonical(body: &str) -> Value {
    let mut body: Value = serde_json::from_str(body).unwrap();
    let fields = body.as_object_mut().unwrap();
    fields.remove("traceId");
    fields.retain(|_, value| !value.is_null());
    for value in fields.values_mut() {
        if let Some(float) = value.as_f64() {
            *value = json!(float);
        }
    }
    body
}

/// Bodies by user and key.
fn by_key(seen: &[Seen]) -> BTreeMap<(String, String), Vec<String>> {
    let mut keys: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for one in seen {
        let user = one.arrived.header("x-user-id").unwrap().to_owned();
        keys.entry((user, one.arrived.key())).or_default().push(one.arrived.body.clone());
    }
    keys
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_attempt_of_same_fingerprint_has_other_bytes_and_the_same_meaning() {
    let (seen, history) = play(&Burst::SameFingerprint(crowd(6, 20))).await;
    let keys = by_key(&seen);
    assert_eq!(keys.len(), 6);
    for bodies in keys.values() {
        let texts: BTreeSet<_> = bodies.iter().collect();
        let meanings: BTreeSet<_> = bodies.iter().map(|body| canonical(body).to_string()).collect();
        assert_eq!((bodies.len(), texts.len(), meanings.len()), (20, 20, 1));
    }
    let all: String = seen.iter().map(|one| one.arrived.body.as_str()).collect();
    for trace in ["\\u00", "1.0", "1e0", "\"coupon\"", ": "] {
        assert!(all.contains(trace), "{trace}");
    }
    assert_eq!(history.variants.len(), 120);
    for attempt in &history.attempts {
        let variant = &history.variants[attempt.variant.unwrap().0 as usize];
        assert_eq!(variant.intent, attempt.intent);
        assert_eq!(variant.fingerprint, history.intent(attempt.intent).fingerprint);
        assert_ne!(variant.sha256, variant.original_sha256);
        assert!(!variant.how.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_forms_of_a_seed_are_always_the_same() {
    let told = |history: History| -> Vec<_> {
        history.variants.into_iter().map(|variant| (variant.intent, variant.how)).collect()
    };
    let burst = Burst::SameFingerprint(crowd(3, 9));
    assert_eq!(told(play(&burst).await.1), told(play(&burst).await.1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mutated_attempts_share_the_key_and_differ_in_meaning() {
    let mutated = Mutated { crowd: crowd(6, 8), mutated_share: 0.5, again: 2 };
    let (seen, history) = play(&Burst::Mutated(mutated)).await;
    let first = history.attempts.iter().filter(|one| one.cause == Cause::Burst);
    let mut first: Vec<_> = first.collect();
    // As they were planned, key by key; the history has them as they ended, in the server's order.
    first.sort_by_key(|one| one.id);
    assert_eq!((history.intents.len(), first.len()), (6 * 4, 48));
    let keys = by_key(&seen);
    assert_eq!(keys.len(), 6);
    for bodies in keys.values() {
        let meanings: BTreeSet<_> = bodies.iter().map(|body| canonical(body).to_string()).collect();
        assert_eq!((bodies.len(), meanings.len()), (8 + 4 * 2, 4));
    }
    for intents in history.intents.chunks(4) {
        let prints: BTreeSet<_> = intents.iter().map(|intent| &intent.fingerprint).collect();
        assert_eq!(prints.len(), 4);
        let mut bought: Vec<_> = intents.iter().map(|intent| intent.quantity).collect();
        bought.sort_unstable();
        assert_eq!(bought, [1, 1, 2, 3], "the intent says what the changed field buys");
        let own = |cause: Cause| {
            let of = |one: &&Attempt| intents.iter().any(|intent| intent.id == one.intent);
            let all = history.attempts.iter().filter(of).filter(move |one| one.cause == cause);
            all.collect::<Vec<_>>()
        };
        let changed = own(Cause::Burst).iter().filter(|one| one.intent != intents[0].id).count();
        assert_eq!(changed, 4, "half of a key's attempts are changed");
        let last = own(Cause::Burst).iter().filter_map(|one| one.completed).max();
        let again = own(Cause::Replay).iter().filter_map(|one| one.first_byte).min();
        assert!(last <= again, "asked again once all have been answered");
    }
    let order: BTreeSet<_> = first.chunks(8).map(|key| key[0].intent.0 % 4).collect();
    assert!(order.len() > 1, "neither kind always comes first");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fresh_keys_are_many_keys_of_a_user_and_one_body() {
    let (seen, history) = play(&Burst::FreshKey(crowd(4, 5))).await;
    assert_eq!((by_key(&seen).len(), history.intents.len()), (20, 20));
    let mut users: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for ((user, _), bodies) in by_key(&seen) {
        users.entry(user).or_default().extend(bodies);
    }
    assert_eq!(users.len(), 4);
    assert!(users.values().all(|bodies| bodies.len() == 1), "{users:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shared_key_is_one_string_of_several_users() {
    let shared = SharedKey { crowd: crowd(5, 3), sharing: 2 };
    let (seen, history) = play(&Burst::SharedKey(shared)).await;
    let mut strings: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for (user, key) in by_key(&seen).into_keys() {
        strings.entry(key).or_default().insert(user);
    }
    let mut counts: Vec<_> = strings.values().map(BTreeSet::len).collect();
    counts.sort_unstable();
    assert_eq!((counts, history.intents.len()), (vec![1, 2, 2], 5));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_unit_is_a_product_of_its_own() {
    let recording = Recording::of_orders().await;
    let mut rig = Rig::new(targets(&[recording.server.address]), crate::rig::client()).await;
    rig.run(&crowd(3, 1)).await;
    let burst = Burst::LastUnit(LastUnit { crowd: crowd(7, 2), stock: 4 });
    assert_eq!(rig.planned(&burst).own_products, [(3 + 1, 4)], "count and the phase's number");
    rig.play(&burst).await;
    let history = rig.history();
    let first = history.run.run.first_product();
    let (others, own) = history.intents.split_at(3);
    assert!(others.iter().all(|intent| intent.product < first + 3));
    assert!(own.len() == 7 && own.iter().all(|intent| intent.product == first + 4));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mixed_attempts_draw_what_they_do_and_each_share_is_kept() {
    let mixed =
        Mixed { crowd: crowd(40, 20), variant_share: 0.25, mutated_share: 0.25, fresh_share: 0.25 };
    let (seen, history) = play(&Burst::Mixed(mixed)).await;
    assert_eq!(seen.len(), 800);
    let is_variant = |one: &&Attempt| one.variant.is_some();
    let variants = history.attempts.iter().filter(is_variant).count();
    let first_of = |user: &str| history.intents.iter().find(|one| one.user == user).unwrap();
    let is = |one: &&Attempt, wanted: fn(bool, bool) -> bool| {
        let intent = history.intent(one.intent);
        let first = first_of(&intent.user);
        wanted(intent.key == first.key, intent.fingerprint == first.fingerprint)
    };
    let count = |wanted| history.attempts.iter().filter(|one| is(one, wanted)).count();
    let fresh = count(|key, _| !key);
    let mutated = count(|key, print| key && !print);
    for (what, count) in [("variants", variants), ("fresh", fresh), ("mutated", mutated)] {
        assert!((130..270).contains(&count), "{what}: {count} of 800");
    }
}
