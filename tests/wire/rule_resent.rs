//! A request that comes again after a rule has lost its reply is known again.

use dupeproof::history::{StepPoint, Wire};
use dupeproof::profile::Loss;
use dupeproof::wire::WireAct;

use crate::armed::{Notices, rule};
use crate::ends::{exactly, send};
use crate::redis_meaning::array;
use crate::watched::{Watched, exchange};

#[tokio::test(flavor = "multi_thread")]
async fn a_request_whose_reply_was_lost_is_resent_while_its_link_may_still_stand() {
    for loss in [Loss::Close, Loss::Reset, Loss::Stall] {
        let mut watched = Watched::set(Wire::Redis).await;
        watched.expect_two().await;
        let lost = rule(StepPoint::After, Wire::Redis, "DEL", WireAct::DropReply(loss));
        let (mut notices, _armed) = Notices::of(&mut watched, vec![lost]).await;
        let (before, unlock) =
            (array(&["GET", "lock:u-run-000"]), array(&["DEL", "lock:u-run-000"]));
        let first = watched.link();
        exchange(&first, &before, b"$1\r\nt\r\n");
        send(&first.0, &unlock);
        assert_eq!(exactly(&first.1, unlock.len()), unlock);
        send(&first.1, b":1\r\n");
        notices.fired().await;
        // The client of the first link hasn't closed it.
        let second = watched.link();
        exchange(&second, &before, b"$-1\r\n");
        exchange(&second, &unlock, b":0\r\n");
        exchange(&second, &unlock, b":0\r\n");
        drop((first, second));
        let steps = watched.end().await.history.steps;
        let resent: Vec<_> = steps.iter().map(|step| (step.name(), step.resent)).collect();
        let is_resent = resent.iter().filter(|(_, resent)| *resent).count();
        assert_eq!((resent.len(), is_resent), (5, 1), "{loss:?}: {resent:?}");
        let again = steps.iter().find(|step| step.resent).unwrap();
        assert_eq!((&*again.verb, again.answer.as_deref()), ("DEL", Some("0")), "{loss:?}");
    }
}
