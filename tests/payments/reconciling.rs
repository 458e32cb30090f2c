//! What nobody comes back for is settled in the background, also after a kill.

use dupeproof::guard::Signal;

use crate::rig::Rig;

const AT_ONCE: [&str; 2] = ["--paying-limit=20ms", "--reconcile-every=10ms"];

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_reply_is_settled_without_the_buyer() {
    let rig = Rig::start(&[], &AT_ONCE).await;
    let buyer = rig.buyer();
    for mood in ["drop-after", "fail"] {
        let order = buyer.place(mood);
        buyer.next_charge(mood, 0);
        assert_eq!(buyer.pay(order).status, 202, "{mood}");
        buyer.until_status(order, "PAID");
    }
    assert_eq!(buyer.charges().len(), 2, "both instances look, and neither charges again");
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decline_that_nobody_heard_sends_the_order_back() {
    let rig = Rig::start(
        &[],
        &["--paying-limit=500ms", "--reconcile-every=10ms", "--payment-timeout=50ms"],
    )
    .await;
    let buyer = rig.buyer();
    let order = buyer.place("k1");
    buyer.next_charge("decline", 200);
    assert_eq!(buyer.pay(order).status, 202);
    buyer.until_status(order, "CREATED");
    assert_eq!(buyer.charges(), Vec::<String>::new());
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_instance_killed_after_the_charge_leaves_an_order_that_another_one_settles() {
    let rig = Rig::start(&[], &AT_ONCE).await;
    let buyer = rig.buyer();
    let order = buyer.place("k1");
    buyer.next_charge("slow", 200);
    std::thread::scope(|scope| {
        let paying = scope.spawn(|| buyer.pay(order));
        buyer.until_logged("charge-request", 1);
        rig.lab.instances[0].process.open().unwrap().signal(Signal::Kill).unwrap();
        assert_eq!(paying.join().unwrap().status, 0, "the buyer never heard of it");
    });
    buyer.until_status(order, "PAID");
    // The first one may still be under way, and comes to the same charge.
    assert_eq!(buyer.charges(), [format!("{order}:pay")]);
    rig.stop().await;
}
