//! Each defect of paying, shown without the drill.

use serde_json::json;

use crate::rig::{Buyer, Rig};

/// Transactions that are open and idle while a charge is under way.
pub async fn open_transactions_during_a_charge(rig: &Rig) -> String {
    let buyer = rig.buyer();
    let order = buyer.place("k1");
    buyer.next_charge("slow", 1_000);
    let paying = std::thread::spawn({
        let buyer = buyer.clone();
        move || buyer.pay(order)
    });
    buyer.until_logged("charge-request", 1);
    let open = "SELECT count(*)::text FROM pg_stat_activity WHERE state = 'idle in transaction'";
    let open = rig.ask(open).await;
    assert_eq!(buyer.logged("charge").len(), 0, "the look came too late");
    assert_eq!(paying.join().unwrap().status, 200);
    open
}

#[tokio::test(flavor = "multi_thread")]
async fn d36_holds_a_transaction_open_for_as_long_as_the_provider_takes() {
    let rig = Rig::start(&["external-call-in-tx"], &[]).await;
    assert_eq!(open_transactions_during_a_charge(&rig).await, "1");
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn d67_charges_a_second_time_after_a_lost_reply() {
    let rig = Rig::start(&["new-payment-id-per-try"], &[]).await;
    let buyer = rig.buyer();
    let order = buyer.place("k1");
    buyer.next_charge("fail-after", 0);
    assert_eq!(buyer.pay(order).status, 202);
    assert_eq!(buyer.pay(order).status, 200);
    let charges = buyer.charges();
    assert_eq!(charges.len(), 2);
    assert_ne!(charges[0], charges[1]);
    rig.stop().await;
}

/// Closes an order while it is being charged: what closing said, and how the order ended.
fn close_during_a_charge(buyer: &Buyer) -> (u16, String) {
    let order = buyer.place("k1");
    buyer.next_charge("slow", 1_000);
    let closed = std::thread::scope(|scope| {
        let paying = scope.spawn(|| buyer.pay(order));
        buyer.until_logged("charge-request", 1);
        let closed = buyer.close(order).status;
        paying.join().unwrap();
        closed
    });
    assert_eq!(buyer.charges().len(), 1);
    (closed, buyer.status(order))
}

#[tokio::test(flavor = "multi_thread")]
async fn d68_charges_an_order_that_is_closed_meanwhile() {
    for (defects, ended) in [(&[][..], (409, "PAID")), (&["pay-before-commit"], (200, "CLOSED"))] {
        let rig = Rig::start(defects, &[]).await;
        let (closed, status) = close_during_a_charge(&rig.buyer());
        assert_eq!((closed, status.as_str()), ended, "{defects:?}");
        rig.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d69_never_asks_what_became_of_a_payment() {
    let flags = ["--paying-limit=0ms", "--reconcile-every=1ms"];
    let rig = Rig::start(&["paying-never-reconciled"], &flags).await;
    let buyer = rig.buyer();
    let order = buyer.place("k1");
    buyer.next_charge("drop-after", 0);
    for _ in 0..10 {
        let unclear = buyer.pay(order);
        assert_eq!((unclear.status, &unclear.body["code"]), (202, &json!("PAYMENT_UNCLEAR")));
    }
    assert_eq!(buyer.status(order), "PAYING");
    assert_eq!(buyer.charges(), [format!("{order}:pay")]);
    assert_eq!((buyer.logged("state-request").len(), buyer.logged("charge-request").len()), (0, 1));
    rig.stop().await;
}
