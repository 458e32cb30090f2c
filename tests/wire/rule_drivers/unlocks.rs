//! Leases through a proxy in front of a real Redis, and what its wire saw of their ends.

use dupeproof::history::{FiringEnd, Role, Step, Wire};
use dupeproof::profile::Loss;
use redis::AsyncCommands;
use tokio::time::timeout;

use crate::armed::Notices;
use crate::drivers::local;
use crate::ends::LIMIT;
use crate::lab::Ground;
use crate::watched::Watched;

use super::cases::{Case, HELD, STALLED};
use super::scenes::{Driver, Scene, Told, Way};
use super::{expected, page};

pub async fn try_all(driver: Driver, cases: &[Case]) {
    let ground = Ground::start().await;
    for case in cases {
        let (told, was_helped, is_resent) = give_back(&ground, driver, *case).await;
        let unlike = expected::compare(driver, Way::Plain, *case, &told, was_helped);
        // Where the application tried once, its driver did the rest.
        let is_silent = is_resent && told.attempts.len() == 1;
        let seen = if is_silent { "1 unlock, resent by the driver" } else { "1 unlock" };
        let seen = format!("{seen}{unlike}");
        page::add(Wire::Redis, Way::Plain, *case, &told, was_helped, &seen);
    }
    ground.stop().await;
}

/// What the application was told, whether it needed the fault to be healed, and whether the wire saw the
/// same request again on another connection.
async fn give_back(ground: &Ground, driver: Driver, case: Case) -> (Told, bool, bool) {
    let client = redis::Client::open(ground.lab.redis_url.clone()).unwrap();
    let mut direct = client.get_multiplexed_async_connection().await.unwrap();
    // A proxy knows a script when its source has passed.
    let () = redis::cmd("SCRIPT").arg("FLUSH").query_async(&mut direct).await.unwrap();
    let server = local(ground.redis_port());
    let mut watched = Watched::servers(vec![(Wire::Redis, server, None)]).await;
    watched.expect_two().await;
    let key = format!("u-run-000:{driver:?}:{case:?}");
    let lock = format!("lock:{key}");
    let mut rule = case.rule(Wire::Redis);
    rule.at.key = Some(lock.clone());
    let (mut notices, armed) = Notices::of(&mut watched, vec![rule]).await;
    let port = watched.address(0).port();
    let patience = case.patience();
    let mut running = driver.start(Scene { port, key: key.clone(), way: Way::Plain, patience });
    let (notice, _) = notices.fired().await;
    let mut ended = None;
    match (case, notice.hold) {
        (Case::Held, Some(hold)) => {
            assert!(timeout(HELD, &mut running).await.is_err(), "{key}: it is held");
            assert!(direct.exists::<_, bool>(&lock).await.unwrap(), "{key}");
            watched.proxies().release(hold, FiringEnd::OthersAnswered).await.unwrap();
        }
        (Case::ReplyLost(Loss::Stall), _) => {
            ended = timeout(STALLED, &mut running).await.ok();
            watched.proxies().heal(armed).await.unwrap();
        }
        _ => {}
    }
    let was_helped = ended.is_none();
    let told = match ended {
        Some(told) => told,
        None => timeout(LIMIT + LIMIT, running).await.expect("it ends"),
    };
    let told = told.unwrap().unwrap();
    assert_eq!(told.after, ["0", "1", "2", "3", "4", "5"], "{key}: its pool can be used");
    assert!(!direct.exists::<_, bool>(&lock).await.unwrap(), "{key}: it is given back");
    let history = watched.end().await.history;
    let is_ours =
        |step: &&Step| step.role == Some(Role::Unlock) && step.subject.as_deref() == Some(&lock);
    let unlocks: Vec<_> = history.steps.iter().filter(is_ours).collect();
    let given_back = unlocks.iter().filter(|step| step.answer.as_deref() == Some("1")).count();
    assert_eq!(given_back, 1, "{key}: {unlocks:#?}");
    let is_resent = unlocks.iter().any(|step| step.resent);
    assert_eq!(is_resent, matches!(case, Case::ReplyLost(_)), "{key}: {unlocks:#?}");
    (told, was_helped, is_resent)
}
