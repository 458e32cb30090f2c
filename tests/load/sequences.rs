//! What is asked one after the other: repeats that vary, and bad keys.

use std::collections::BTreeSet;

use dupeproof::history::{Cause, KeyForm};
use dupeproof::profile::{
    BadKeys, BodyTemplate, Burst, Contract, KeyCarrier, KeyRule, KeySyntax, Request, Sequential,
    Vary,
};

use crate::kinds::rich;
use crate::recording::{Recording, Seen};
use crate::rig::{Rig, Setup, request, targets, text};
use crate::server::created;

fn sequential(users: u32, repeats: u32, vary: &[Vary], route: Option<usize>) -> Burst {
    let vary = vary.to_vec();
    Burst::Sequential(Sequential { users, repeats, quantity: 1, request: 0, vary, route })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_repeat_waits_for_the_answer_before_it_and_goes_to_the_next_instance() {
    let recordings = [Recording::of_orders().await, Recording::of_orders().await];
    let addresses = recordings.each_ref().map(|one| one.server.address);
    let mut rig = Rig::new(targets(&addresses), crate::rig::client()).await;
    rig.play(&sequential(3, 4, &[], None)).await;
    let history = rig.history();
    for (_, attempts) in crate::rig::by_intent(&history) {
        let causes: Vec<_> = attempts.iter().map(|one| one.cause).collect();
        assert_eq!(causes, [vec![Cause::Burst], vec![Cause::Replay; 4]].concat());
        for pair in attempts.windows(2) {
            assert!(pair[0].completed <= pair[1].first_byte);
            assert_ne!(pair[0].instance, pair[1].instance);
        }
    }
    let heads: BTreeSet<_> = recordings
        .iter()
        .flat_map(Recording::seen)
        .map(|one| (one.arrived.key(), one.arrived.body))
        .collect();
    assert_eq!((heads.len(), history.variants.len()), (3, 0), "nothing varies unless told to");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repeats_vary_body_and_headers_and_keep_the_key() {
    let recording = Recording::of_orders().await;
    let targets = targets(&[recording.server.address]);
    let setup = Setup { targets, requests: vec![rich()], ..Setup::default() };
    let mut rig = Rig::set_up(setup).await;
    rig.play(&sequential(1, 12, &[Vary::Body, Vary::Headers], None)).await;
    let (seen, history) = (recording.seen(), rig.history());
    let all = |of: fn(&Seen) -> String| seen.iter().map(of).collect::<BTreeSet<_>>();
    assert_eq!(all(|one| one.arrived.key()).len(), 1);
    assert_eq!(all(|one| one.arrived.body.clone()).len(), 13);
    assert!(all(|one| one.arrived.header("user-agent").unwrap().to_owned()).len() > 2);
    assert!(all(|one| one.arrived.header("x-request-id").unwrap_or_default().to_owned()).len() > 9);
    let names = |one: &Seen| -> String {
        let lines = one.arrived.head.lines().skip(1);
        lines.filter_map(|line| Some(line.split_once(':')?.0)).collect()
    };
    assert!(all(names).len() > 9, "order and case of the names");
    assert_eq!(history.variants.len(), 12);
    for variant in &history.variants {
        assert!(variant.how.contains("headers"), "{}", variant.how);
        assert_eq!(variant.fingerprint, history.intents[0].fingerprint);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_request_takes_turns_with_the_first() {
    let recording = Recording::of_orders().await;
    let targets = targets(&[recording.server.address]);
    let other =
        Request { name: "put".to_owned(), method: "PUT", path: text("/o/{key}"), ..request() };
    let setup = Setup { targets, requests: vec![request(), other], ..Setup::default() };
    let mut rig = Rig::set_up(setup).await;
    rig.play(&sequential(1, 3, &[], Some(1))).await;
    let seen = recording.seen();
    let lines: Vec<_> = seen.iter().map(|one| one.arrived.head.split(' ').next()).collect();
    assert_eq!(lines, ["POST", "PUT", "POST", "PUT"].map(Some));
    let keys: BTreeSet<_> = seen.iter().map(|one| one.arrived.key()).collect();
    assert_eq!((keys.len(), rig.history().intents.len()), (1, 1));
}

/// Sends every form of bad key; the requests by form, in order.
async fn bad(rule: KeyRule, request: Request) -> Vec<(KeyForm, Seen)> {
    let recording = Recording::of_orders().await;
    let targets = targets(&[recording.server.address]);
    let contract = Contract { key: rule, ..Contract::order_strict() };
    let setup = Setup { targets, contract, requests: vec![request], ..Setup::default() };
    let mut rig = Rig::set_up(setup).await;
    rig.play(&Burst::BadKeys(BadKeys { users: 2, quantity: 1, request: 0 })).await;
    let (seen, history) = (recording.seen(), rig.history());
    let form = |one: &Seen| {
        let user = one.arrived.header("x-user-id").unwrap();
        history.intents.iter().find(|intent| intent.user == user).unwrap().key_form
    };
    let mut forms: Vec<_> = seen.into_iter().map(|one| (form(&one), one)).collect();
    forms.sort_by_key(|(form, _)| *form);
    forms
}

fn keys_of(one: &Seen) -> Vec<&str> {
    let lines = one.arrived.head.lines().filter_map(|line| line.split_once(':'));
    let keys = lines.filter(|(name, _)| name.eq_ignore_ascii_case("idempotency-key"));
    keys.map(|(_, value)| value.trim()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_keys_break_a_rule_of_quoted_headers_in_five_ways() {
    let rule = KeyRule { syntax: KeySyntax::Quoted, ..Contract::order_strict().key };
    let forms = bad(rule, request()).await;
    assert_eq!(forms.len(), 10);
    for (form, one) in &forms {
        let keys = keys_of(one);
        match (form, keys.as_slice()) {
            (KeyForm::Missing, []) | (KeyForm::Empty, [""]) => {}
            (KeyForm::TooLong, [key]) => assert_eq!(key.len(), 256 + 2),
            (KeyForm::Twice, [one, other]) => assert_ne!(one, other),
            (KeyForm::WrongSyntax, [key]) => assert!(key.starts_with("k-"), "{key}"),
            (form, keys) => panic!("{form:?} sent {keys:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_raw_key_has_no_wrong_syntax() {
    let forms = bad(Contract::order_strict().key, request()).await;
    assert_eq!(forms.len(), 8);
    assert!(forms.iter().all(|(form, _)| *form != KeyForm::WrongSyntax));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_in_the_body_is_left_out_emptied_and_overlong() {
    let carrier = KeyCarrier::Body("/requestId".to_owned());
    let rule =
        KeyRule { carrier, syntax: KeySyntax::Uuid, longest: None, ..Contract::order_strict().key };
    let mut request = request();
    request.headers.remove(0);
    let Some(BodyTemplate::Object(fields)) = &mut request.body else { panic!("an object") };
    fields.push(("requestId".to_owned(), BodyTemplate::Text(text("{key}"))));
    let forms = bad(rule, request).await;
    assert_eq!(forms.len(), 8, "a field isn't sent twice");
    for (form, one) in &forms {
        let body: serde_json::Value = serde_json::from_str(&one.arrived.body).unwrap();
        let key = body.get("requestId").map(|key| key.as_str().unwrap());
        match (form, key) {
            (KeyForm::Missing, None) | (KeyForm::Empty, Some("")) => {}
            (KeyForm::TooLong, Some(key)) => assert_eq!(key.len(), 300),
            (KeyForm::WrongSyntax, Some(key)) => assert!(key.starts_with("not-a-uuid")),
            (form, key) => panic!("{form:?} sent {key:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn good_keys_are_quoted_or_uuids_where_the_contract_says_so() {
    for syntax in [KeySyntax::Quoted, KeySyntax::Uuid] {
        let recording = Recording::answering(|_, _| created("1").into()).await;
        let contract = Contract {
            key: KeyRule { syntax, ..Contract::order_strict().key },
            ..Contract::order_strict()
        };
        let targets = targets(&[recording.server.address]);
        let mut rig = Rig::set_up(Setup { targets, contract, ..Setup::default() }).await;
        rig.run(&crate::rig::burst(3, 2)).await;
        let history = rig.history();
        let sent: BTreeSet<_> = recording.seen().iter().map(|one| one.arrived.key()).collect();
        let wanted: BTreeSet<_> = history
            .intents
            .iter()
            .map(|intent| match syntax {
                KeySyntax::Quoted => format!("\"{}\"", intent.key),
                _ => intent.key.clone(),
            })
            .collect();
        assert_eq!((sent.len(), &sent), (3, &wanted));
        let length = if syntax == KeySyntax::Uuid { 36 } else { "k--000".len() + 13 + 2 };
        assert!(sent.iter().all(|key| key.len() == length), "{sent:?}");
    }
}
