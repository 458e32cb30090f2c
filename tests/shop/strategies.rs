//! Every strategy keeps one intent one order, and the stock its books.

use crate::rig::Rig;

/// Four buyers of five units of two each, every one asking three times at two instances.
async fn buys_two_and_no_more(flags: &str) {
    let (rig, one) = Rig::with_shop(flags, 5).await;
    let other = rig.shop(&format!("--instance 1 {flags}")).await;
    let buyers = ["u1", "u2", "u3", "u4"];
    let asked: Vec<_> = (0..12)
        .map(|n| if n % 2 == 0 { &one } else { &other }.ordering(buyers[n % 4], "k", 2))
        .collect();
    for reply in asked {
        let status = reply.await.unwrap().status;
        assert!(matches!(status, 201 | 202 | 422), "{flags}: {status}");
    }
    let mut sold = 0;
    for buyer in buyers {
        let reply = one.order_until_definite(buyer, "k", 2).await;
        assert!(matches!(reply.status, 201 | 422), "{flags}: {reply:?}");
        sold += i64::from(reply.status == 201);
    }
    assert_eq!((sold, rig.orders().await, rig.left().await), (2, 2, 1), "{flags}");
    let moved = rig.ask("SELECT coalesce(sum(delta), 0)::text FROM stock_movements").await;
    assert_eq!(moved, "-4", "{flags}");
    assert_eq!(rig.redis_do::<Vec<String>>("KEYS lock:*"), Vec::<String>::new(), "{flags}");
    let advisory = "SELECT count(*)::text FROM pg_locks WHERE locktype = 'advisory'";
    assert_eq!(rig.ask(advisory).await, "0", "{flags}");
    one.kill().await;
    other.kill().await;
    rig.stop().await;
}

macro_rules! strategies {
    ($($name:ident: $flags:literal,)+) => {
        $(#[tokio::test(flavor = "multi_thread")]
        async fn $name() {
            buys_two_and_no_more($flags).await;
        })+
    };
}

strategies! {
    no_lock: "--lock none",
    an_advisory_lock: "--lock postgres-advisory",
    an_advisory_lock_at_repeatable_read:
        "--lock postgres-advisory --isolation repeatable-read --idempotency none",
    a_lease_that_is_entered_twice: "--lease-kind reentrant",
    one_lock_for_all: "--lock-per global --stock version",
    a_lock_per_user_and_versions: "--lock-per user --stock version",
    versions_at_repeatable_read: "--lock none --stock version --isolation repeatable-read",
    row_locks: "--lock none --stock select-for-update --idempotency postgres",
    row_locks_when_serializable: "--stock select-for-update --isolation serializable",
    a_look_under_the_lease: "--idempotency none --lock-per product",
}
