//! The correct shop: an order is charged once, whatever becomes of the provider's replies.

use std::time::Duration;

use serde_json::json;

use crate::rig::Rig;
use crate::waiting::until;

#[tokio::test(flavor = "multi_thread")]
async fn an_order_is_charged_once_however_many_pay_for_it_at_once() {
    let rig = Rig::start(&[], &[]).await;
    let buyer = rig.buyer();
    let order = buyer.place("k1");
    buyer.next_charge("slow", 100);
    let replies = std::thread::scope(|scope| {
        let buyer = &buyer;
        let paying: Vec<_> =
            (0..8).map(|number| scope.spawn(move || buyer.pay_at(number % 2, order))).collect();
        paying.into_iter().map(|it| it.join().unwrap()).collect::<Vec<_>>()
    });
    for reply in replies {
        assert_eq!((reply.status, &reply.body["status"]), (200, &json!("PAID")), "{reply:?}");
    }
    assert_eq!(buyer.charges(), [format!("{order}:pay")]);
    assert_eq!(buyer.logged("charge")[0]["amount"], 2 * 1_250);
    assert_eq!(buyer.logged("charge")[0]["user"], "u1");
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_became_of_a_lost_reply_is_asked_for_by_the_next_pay() {
    let rig = Rig::start(&[], &[]).await;
    let buyer = rig.buyer();
    for (mood, charged_at_once) in [("drop-after", true), ("fail-after", true), ("fail", false)] {
        let order = buyer.place(mood);
        let requests = buyer.logged("charge-request").len();
        buyer.next_charge(mood, 0);
        let unclear = buyer.pay(order);
        assert_eq!((unclear.status, &unclear.body["code"]), (202, &json!("PAYMENT_UNCLEAR")));
        assert!(unclear.head.contains("retry-after: 1"), "{}", unclear.head);
        assert_eq!(buyer.logged("charge-request").len(), requests + 1, "one attempt, one request");
        assert_eq!(buyer.status(order), "PAYING");
        let refused = buyer.close(order);
        assert_eq!((refused.status, &refused.body["status"]), (409, &json!("PAYING")), "{mood}");

        let paid = buyer.pay_at(1, order);
        assert_eq!((paid.status, &paid.body["status"]), (200, &json!("PAID")), "{mood}");
        let sent = buyer.logged("charge-request").len() - requests;
        assert_eq!(sent, if charged_at_once { 1 } else { 2 }, "{mood}");
        let ids: Vec<_> =
            buyer.charges().into_iter().filter(|id| *id == format!("{order}:pay")).collect();
        assert_eq!(ids.len(), 1, "{mood}");
        assert_eq!(buyer.pay(order).body, paid.body, "paid again is paid");
    }
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_comes_too_late_is_unclear_and_not_a_failure() {
    let rig = Rig::start(&[], &["--paying-limit=24h", "--payment-timeout=100ms"]).await;
    let buyer = rig.buyer();
    let order = buyer.place("k1");
    buyer.next_charge("slow", 1_000);
    let unclear = buyer.pay(order);
    assert_eq!((unclear.status, &unclear.body["code"]), (202, &json!("PAYMENT_UNCLEAR")));
    // The provider may not know of it yet; then the same id is sent again.
    until(Duration::from_secs(15), || match buyer.pay(order) {
        paid if paid.status == 200 => Ok(()),
        other => Err(format!("{other:?}")),
    });
    assert_eq!(buyer.charges(), [format!("{order}:pay")]);
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declined_order_can_be_closed_and_was_never_charged() {
    let rig = Rig::start(&[], &[]).await;
    let buyer = rig.buyer();
    let order = buyer.place("k1");
    buyer.next_charge("decline", 0);
    let declined = buyer.pay(order);
    assert_eq!((declined.status, &declined.body["code"]), (402, &json!("PAYMENT_DECLINED")));
    assert_eq!(buyer.status(order), "CREATED");
    assert_eq!(buyer.pay(order).status, 402, "the same payment again");
    assert_eq!(buyer.close(order).status, 200);
    let closed = buyer.pay(order);
    assert_eq!((closed.status, &closed.body["status"]), (409, &json!("CLOSED")));
    assert_eq!(buyer.charges(), Vec::<String>::new());
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_held_while_the_provider_takes_its_time() {
    let rig = Rig::start(&[], &[]).await;
    assert_eq!(crate::defects::open_transactions_during_a_charge(&rig).await, "0");
    rig.stop().await;
}
