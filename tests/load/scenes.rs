//! What needs a scene: races, tokens, logins.

use std::collections::{BTreeMap, BTreeSet};

use dupeproof::history::{Cause, Outcome};
use dupeproof::load::LoadError;
use dupeproof::profile::{Actor, BodyTemplate, Burst, Login, Race, Request, Secret, SubmitToken};

use crate::kinds::crowd;
use crate::recording::{Answer, Recording};
use crate::rig::{Rig, Setup, burst, request, targets, text};
use crate::server::{Arrived, created, reply};

fn at_order(name: &str) -> Request {
    Request {
        name: name.to_owned(),
        path: text(&format!("/orders/{{order}}/{name}")),
        body: None,
        ..request()
    }
}

fn race(in_turn: bool) -> Burst {
    Burst::Race(Race { crowd: crowd(3, 2), first: 0, requests: vec![1, 2], in_turn })
}

/// Gives each buyer an order of its own, and acknowledges what is done to it after `together`
/// requests at orders have arrived.
async fn orders(together: usize) -> Recording {
    Recording::answering(move |arrived, number| {
        let path = arrived.head.split(' ').nth(1).unwrap();
        match path.strip_prefix("/orders/").and_then(|rest| rest.split('/').next()) {
            Some(order) => Answer { after: together, ..created(order).into() },
            None => created(&format!("o{number}")).into(),
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn racing_requests_meet_at_the_order_that_was_made_for_them() {
    let recording = orders(3 + 12).await;
    let targets = targets(&[recording.server.address]);
    let requests = vec![request(), at_order("pay"), at_order("close")];
    let mut rig = Rig::set_up(Setup { targets, requests, ..Setup::default() }).await;
    assert_eq!((rig.planned(&race(false)).intents, rig.planned(&race(false)).prepares), (9, 3));
    let summary = rig.play(&race(false)).await;
    assert_eq!((summary.planned, summary.tally.acknowledged), (12, 15));
    let history = rig.history();
    let mut entities: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for intent in &history.intents[3..] {
        entities.entry(intent.entity.clone().unwrap()).or_default().push(intent);
    }
    assert_eq!(entities.len(), 3);
    for (order, intents) in entities {
        let names: Vec<_> = intents.iter().map(|intent| intent.request.as_str()).collect();
        assert_eq!(names, ["pay", "close"]);
        assert_ne!(intents[0].key, intents[1].key);
        let of = |id| history.attempts.iter().filter(move |one| one.intent == id);
        let first = history.attempts.iter().find(|one| one.order.as_deref() == Some(&*order));
        let made = history.intent(first.unwrap().intent);
        assert!(intents.iter().all(|intent| intent.user == made.user));
        let racing: Vec<_> = intents.iter().flat_map(|intent| of(intent.id)).collect();
        let last = racing.iter().filter_map(|one| one.released).max();
        let answered = racing.iter().filter_map(|one| one.completed).min();
        assert!(racing.len() == 4 && last < answered, "all of an order's attempts are together");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_race_in_turn_is_one_after_the_other_in_the_order_given() {
    let recording = orders(0).await;
    let targets = targets(&[recording.server.address]);
    let requests = vec![request(), at_order("pay"), at_order("close")];
    let mut rig = Rig::set_up(Setup { targets, requests, ..Setup::default() }).await;
    rig.play(&race(true)).await;
    let mut paths: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for one in recording.seen() {
        let path = one.arrived.head.split(' ').nth(1).unwrap().to_owned();
        if let Some((order, act)) = path.trim_start_matches("/orders").rsplit_once('/') {
            paths.entry(order.to_owned()).or_default().push(act.to_owned());
        }
    }
    paths.remove("");
    assert_eq!(paths.len(), 3);
    assert!(paths.values().all(|acts| acts.as_slice() == ["pay", "pay", "close", "close"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_about_an_order_that_was_refused_is_not_sent() {
    let recording = Recording::answering(|_, _| reply("422 Unprocessable", "", "{}").into()).await;
    let targets = targets(&[recording.server.address]);
    let requests = vec![request(), at_order("pay"), at_order("close")];
    let mut rig = Rig::set_up(Setup { targets, requests, ..Setup::default() }).await;
    let summary = rig.play(&race(false)).await;
    assert_eq!((summary.tally.refused, summary.tally.not_sent), (3, 12));
    assert!(rig.load.undecided().is_empty(), "there is nothing to be asked again");
    assert_eq!(recording.seen().len(), 3);
    let history = rig.history();
    let reason = history.attempts.iter().rev().find_map(|one| one.failure.clone()).unwrap();
    assert!(reason.contains("never confirmed"), "{reason}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_becomes_the_key_of_all_attempts_with_it() {
    let recording = Recording::answering(|arrived, number| {
        let is_token = arrived.head.starts_with("POST /token");
        let token = reply("200 OK", "", &format!(r#"{{"data":{{"token":"t{number}"}}}}"#));
        if is_token { token } else { created(&arrived.key()) }.into()
    })
    .await;
    let targets = targets(&[recording.server.address]);
    let token = Request { name: "token".to_owned(), path: text("/token"), ..request() };
    let mut place = request();
    place.headers.push(("X-Token".to_owned(), text("{token}")));
    let setup = Setup { targets, requests: vec![place, token], ..Setup::default() };
    let mut rig = Rig::set_up(setup).await;
    let burst = SubmitToken { crowd: crowd(4, 5), token: 1, token_at: "/data/token".to_owned() };
    let summary = rig.play(&Burst::SubmitToken(burst)).await;
    assert_eq!(summary.tally.acknowledged, 4 + 20);
    let history = rig.history();
    let mut tokens: BTreeMap<_, usize> = BTreeMap::new();
    for one in recording.seen().iter().filter(|one| !one.arrived.head.contains("/token ")) {
        assert_eq!(one.arrived.header("x-token"), Some(one.arrived.key().as_str()));
        *tokens.entry(one.arrived.key()).or_default() += 1;
    }
    assert!(tokens.len() == 4 && tokens.values().all(|&count| count == 5));
    let keys: BTreeSet<_> = history.intents[4..].iter().map(|one| one.key.clone()).collect();
    assert_eq!(keys, tokens.into_keys().collect());
    let prepared: Vec<_> =
        history.attempts.iter().filter(|one| one.cause == Cause::Prepare).collect();
    assert_eq!(prepared.len(), 4);
    assert!(prepared.iter().all(|one| one.outcome == Outcome::Acknowledged));
    assert!(prepared.iter().all(|one| history.intent(one.intent).key.is_empty()));
}

fn login() -> Request {
    let secret = |name: &str| (name == "PASSWORD").then(|| "pa55w0rd".to_owned());
    let field = |name: &str, text| (name.to_owned(), BodyTemplate::Text(text));
    let password = dupeproof::profile::TextTemplate::read("${PASSWORD}", &secret).unwrap();
    Request {
        name: "login".to_owned(),
        path: text("/login"),
        headers: Vec::new(),
        body: Some(BodyTemplate::Object(vec![
            field("user", text("{user}")),
            field("password", password),
        ])),
        ignored: Vec::new(),
        ..request()
    }
}

async fn logged_in(token_at: Option<&str>, answer: fn(&Arrived) -> String) -> (Rig, Recording) {
    let recording = Recording::answering(move |arrived, _| answer(arrived).into()).await;
    let targets = targets(&[recording.server.address]);
    let mut place = request();
    if token_at.is_some() {
        place.headers.push(("Authorization".to_owned(), text("Bearer {token}")));
    }
    let login_with = Login { request: 1, token_at: token_at.map(str::to_owned) };
    let users = ["anna", "ben"].map(Secret::plain).to_vec();
    let actor = Actor { login: Some(login_with), users, products: vec![7, 8] };
    let requests = vec![place, login()];
    let rig = Rig::set_up(Setup { targets, requests, actor, ..Setup::default() }).await;
    (rig, recording)
}

fn user_of(arrived: &Arrived) -> String {
    let body: serde_json::Value = serde_json::from_str(&arrived.body).unwrap();
    body["user"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_of_a_login_is_sent_and_never_written_down() {
    let (mut rig, recording) = logged_in(Some("/token"), |arrived| {
        if arrived.head.starts_with("POST /login") {
            return reply("200 OK", "", &format!(r#"{{"token":"s3cret-{}"}}"#, user_of(arrived)));
        }
        let bearer = arrived.header("authorization").unwrap();
        reply("201 Created", "", &format!(r#"{{"orderId":"1","echo":"{bearer}"}}"#))
    })
    .await;
    rig.run(&burst(4, 2)).await;
    rig.run(&burst(2, 1)).await;
    let (mut logins, mut users) = (0, BTreeSet::new());
    for one in recording.seen() {
        if one.arrived.head.starts_with("POST /login") {
            assert!(one.arrived.body.contains("pa55w0rd"));
            logins += 1;
        } else {
            let user = one.arrived.header("x-user-id").unwrap().to_owned();
            let wanted = format!("Bearer s3cret-{user}");
            assert_eq!(one.arrived.header("authorization"), Some(wanted.as_str()));
            users.insert(user);
        }
    }
    assert_eq!((logins, users.len()), (2, 2), "once a user, from the pool, over all phases");
    let history = rig.history();
    assert_eq!(history.attempts.len(), 10);
    let products: BTreeSet<_> = history.intents.iter().map(|intent| intent.product).collect();
    assert_eq!(products, BTreeSet::from([7, 8]));
    let written = format!("{history:?}");
    assert!(!written.contains("s3cret") && !written.contains("pa55w0rd"));
    assert!(written.contains("***"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cookies_of_a_login_are_kept_and_sent() {
    let (mut rig, recording) = logged_in(None, |arrived| {
        if arrived.head.starts_with("POST /login") {
            let user = user_of(arrived);
            let cookies = format!("Set-Cookie: sid=c00k-{user}; Path=/\r\nSet-Cookie: b=2\r\n");
            return reply("204 No Content", &cookies, "");
        }
        created("1")
    })
    .await;
    rig.run(&burst(2, 3)).await;
    let seen = recording.seen();
    let orders = seen.iter().filter(|one| one.arrived.head.starts_with("POST /orders"));
    for one in orders {
        let user = one.arrived.header("x-user-id").unwrap();
        let wanted = format!("sid=c00k-{user}; b=2");
        assert_eq!(one.arrived.header("cookie"), Some(wanted.as_str()));
    }
    assert!(!format!("{:?}", rig.history()).contains("c00k"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_that_fails_is_told_as_it_was_answered_without_what_was_sent() {
    let (mut rig, recording) = logged_in(Some("/token"), |arrived| {
        reply("401 Unauthorized", "", &format!("no such login: {}", arrived.body))
    })
    .await;
    let failed = rig.phase(&Burst::SameKey(burst(1, 1)), None).await.unwrap_err();
    assert!(matches!(failed, LoadError::Login { .. }));
    let told = failed.to_string();
    assert!(told.contains("anna") && told.contains("401 no such login"), "{told}");
    assert!(!told.contains("pa55w0rd"), "{told}");
    assert_eq!(recording.seen().len(), 1);
    let (mut rig, _recording) =
        logged_in(Some("/token"), |_| reply("200 OK", "", r#"{"jwt":"s3cret"}"#)).await;
    let told = rig.phase(&Burst::SameKey(burst(1, 1)), None).await.unwrap_err().to_string();
    assert!(told.contains("no token at /token") && !told.contains("s3cret"), "{told}");
}
