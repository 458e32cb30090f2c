//! The order service is killed at a random moment under load, again and again; every intent is
//! retried to a definite answer, and then the books must be right.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dupeproof::lab::{Payments, PaymentsSpec};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use tokio::sync::RwLock;

use crate::measured;
use crate::shop_rig::{Reply, Rig, Shop, place, send};

const KILLS: usize = 300;
/// A kill comes so long after the instance before it was up again.
const LATEST_MS: u64 = 200;
const CLIENTS: u64 = 16;
const PRODUCTS: i64 = 5;
const UNITS: i32 = 1_000_000;
/// Short leases, so that what a kill leaves is over soon.
const FLAGS: &str = "--lease 500ms --processing-lease 1s --lock-wait 1s --paying-limit 1s \
                     --reconcile-every 300ms";
/// Any intent is definite by then, whatever was killed meanwhile.
const DEFINITE: Duration = Duration::from_secs(120);

/// What clients were told and did.
#[derive(Default)]
struct Told {
    /// By user, as user and key are one here: the order and its quantity.
    orders: BTreeMap<String, (i64, i64)>,
    parked: Vec<String>,
    attempts: u64,
    cut: u64,
    come_back: u64,
    failed: u64,
}

struct Service {
    addresses: RwLock<[String; 2]>,
    is_over: AtomicBool,
    in_flight: AtomicU64,
}

#[test]
#[ignore = "minutes long: make soak"]
fn no_kill_of_the_shop_ever_breaks_its_books() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(campaign());
}

async fn campaign() {
    let moods = ["--drop-share=0.02".to_owned(), "--fail-after-share=0.02".to_owned()];
    let payments = PaymentsSpec { flags: moods.to_vec() };
    let rig = Rig::start_beside(Some(payments)).await;
    let flags = format!("{FLAGS} --payments-url {}", provider(&rig).url());
    let (one, other) = (rig.shop(&flags).await, rig.shop(&format!("--instance 1 {flags}")).await);
    let products: Vec<_> = (1..=PRODUCTS).map(|id| (id, UNITS)).collect();
    rig.lab.stock_products(&products).await.unwrap();
    let service = Arc::new(Service {
        addresses: RwLock::new([one.address.clone(), other.address.clone()]),
        is_over: AtomicBool::new(false),
        in_flight: AtomicU64::new(0),
    });
    let began = Instant::now();
    let clients: Vec<_> =
        (0..CLIENTS).map(|client| tokio::spawn(buy(client, Arc::clone(&service)))).collect();
    let (caught, shops) = kill_again_and_again(&rig, &flags, &service, [one, other]).await;
    let mut told = Told::default();
    for client in clients {
        let mut of_client = client.await.expect("no client fails");
        told.orders.append(&mut of_client.orders);
        told.parked.append(&mut of_client.parked);
        told.attempts += of_client.attempts;
        told.cut += of_client.cut;
        told.come_back += of_client.come_back;
        told.failed += of_client.failed;
    }
    let took = began.elapsed();
    for shop in shops.into_iter().flatten() {
        shop.kill().await;
    }
    judge(&rig, &told).await;
    judge_payments(&rig, &told).await;
    measured::write(
        "crashes.md",
        "SIGKILL of the order service under load",
        &page(&told, &caught, took),
    );
    rig.stop().await;
}

/// Requests that were under way at each kill, and the instances that run in the end.
async fn kill_again_and_again(
    rig: &Rig,
    flags: &str,
    service: &Service,
    shops: [Shop; 2],
) -> (Vec<u64>, [Option<Shop>; 2]) {
    let mut moments = ChaCha8Rng::seed_from_u64(42);
    let mut shops: [Option<Shop>; 2] = shops.map(Some);
    let mut caught = vec![];
    for kill in 0..KILLS {
        // Time itself is the subject.
        tokio::time::sleep(Duration::from_millis(moments.random_range(0..LATEST_MS))).await;
        let which = usize::from(moments.random_bool(0.5));
        caught.push(service.in_flight.load(Ordering::SeqCst));
        shops[which].take().expect("it was started again").kill().await;
        let shop = rig.shop(&format!("--instance {} {flags}", kill + 2)).await;
        service.addresses.write().await[which] = shop.address.clone();
        shops[which] = Some(shop);
    }
    service.is_over.store(true, Ordering::SeqCst);
    (caught, shops)
}

/// Places one order after the other, every third asked for twice at once.
async fn buy(client: u64, service: Arc<Service>) -> Told {
    let mut dice = ChaCha8Rng::seed_from_u64(1_000 + client);
    let mut told = Told::default();
    let mut number = 0_u64;
    while !service.is_over.load(Ordering::SeqCst) {
        number += 1;
        let user = format!("u{client}-{number}");
        let quantity = dice.random_range(1..=3_i64);
        let product = dice.random_range(1..=PRODUCTS);
        let wish = json!({ "productId": product, "quantity": quantity }).to_string();
        let twin = number.is_multiple_of(3).then(|| {
            let (service, user, wish) = (Arc::clone(&service), user.clone(), wish.clone());
            tokio::spawn(async move { ask(&service, &user, &wish, 1).await })
        });
        let deadline = Instant::now() + DEFINITE;
        let mut tries = 0_usize;
        loop {
            let reply = ask(&service, &user, &wish, tries).await;
            tries += 1;
            told.attempts += 1;
            match reply.status {
                201 => {
                    let order = reply.body["orderId"].as_i64().expect("an order has a number");
                    told.orders.insert(user.clone(), (order, quantity));
                    break;
                }
                423 => {
                    told.parked.push(user.clone());
                    break;
                }
                202 => told.come_back += 1,
                0 => told.cut += 1,
                500.. => told.failed += 1,
                _ => panic!("{user}: {reply:?}"),
            }
            assert!(Instant::now() < deadline, "{user} is still {reply:?}");
            tokio::time::sleep(Duration::from_millis(dice.random_range(5..50))).await;
        }
        if let Some((order, _)) = told.orders.get(&user) {
            told.attempts += pay(&service, &user, *order, deadline).await;
        }
        if let Some(twin) = twin {
            let twin = twin.await.expect("no request fails");
            told.attempts += 1;
            let known = told.orders.get(&user).map(|(order, _)| json!(order));
            if twin.status == 201 {
                assert_eq!(Some(&twin.body["orderId"]), known.as_ref(), "{user}");
            }
        }
    }
    told
}

async fn ask(service: &Service, user: &str, wish: &str, which: usize) -> Reply {
    let address = service.addresses.read().await[which % 2].clone();
    service.in_flight.fetch_add(1, Ordering::SeqCst);
    let reply = place(address, user.to_owned(), "k".to_owned(), wish.to_owned()).await;
    service.in_flight.fetch_sub(1, Ordering::SeqCst);
    reply
}

/// Pays until that is definite, at this instance and that; how many attempts it took.
async fn pay(service: &Service, user: &str, order: i64, deadline: Instant) -> u64 {
    let head =
        format!("POST /orders/{order}/pay HTTP/1.1\r\nX-User-Id: {user}\r\nContent-Length: 0\r\n");
    let mut tries = 0;
    loop {
        let address = service.addresses.read().await[tries % 2].clone();
        service.in_flight.fetch_add(1, Ordering::SeqCst);
        let reply = send(&address, &head, b"").await;
        service.in_flight.fetch_sub(1, Ordering::SeqCst);
        tries += 1;
        match reply.status {
            200 => return tries as u64,
            0 | 202 | 500.. => {}
            _ => panic!("{user} pays order {order}: {reply:?}"),
        }
        assert!(Instant::now() < deadline, "{user} has not paid: {reply:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn provider(rig: &Rig) -> &Payments {
    rig.lab.payments.as_ref().expect("it was asked for")
}

/// Every order is paid, and charged once.
async fn judge_payments(rig: &Rig, told: &Told) {
    let unpaid = rig.ask("SELECT count(*)::text FROM orders WHERE status <> 'PAID'").await;
    assert_eq!(unpaid, "0");
    let ledger = std::fs::read_to_string(&provider(rig).ledger).unwrap();
    let mut charged: BTreeMap<i64, u32> = BTreeMap::new();
    for line in ledger.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        if line["event"] == "charge" {
            let order = line["order"].as_str().and_then(|order| order.parse().ok()).unwrap();
            *charged.entry(order).or_default() += 1;
        }
    }
    let once: BTreeMap<i64, u32> = told.orders.values().map(|(order, _)| (*order, 1)).collect();
    assert_eq!(charged, once, "one charge for each order");
}

/// Orders, stock, movements and records, against what clients were told.
async fn judge(rig: &Rig, told: &Told) {
    let mut postgres = rig.postgres().await;
    let rows: Vec<(i64, String, i32)> =
        sqlx::query_as("SELECT order_id, user_id, quantity FROM orders ORDER BY order_id")
            .fetch_all(&mut postgres)
            .await
            .unwrap();
    let mut found: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for (order, user, quantity) in rows {
        let other = found.insert(user.clone(), (order, quantity.into()));
        assert_eq!(other, None, "{user} has two orders");
    }
    assert_eq!(
        found, told.orders,
        "every order was acknowledged, and every acknowledged one is there"
    );
    for parked in &told.parked {
        assert!(!found.contains_key(parked), "{parked} was parked and has an order");
    }
    let (sold, moved): (i64, i64) = sqlx::query_as(
        "SELECT (SELECT coalesce(sum(quantity), 0) FROM orders),
                (SELECT coalesce(sum(delta), 0) FROM stock_movements)",
    )
    .fetch_one(&mut postgres)
    .await
    .unwrap();
    let left: i64 = sqlx::query_scalar("SELECT sum(available) FROM product_stock")
        .fetch_one(&mut postgres)
        .await
        .unwrap();
    assert_eq!(left + sold, i64::from(UNITS) * PRODUCTS, "the stock adds up");
    assert_eq!(moved, -sold, "and its movements explain it");
    for (user, (order, _)) in &told.orders {
        let key = format!("idem:orders:{user}:k");
        let status: String = rig.redis_do(&format!("HGET {key} status"));
        assert_eq!(status, "SUCCESS", "{user}");
        let body: String = rig.redis_do(&format!("HGET {key} response_body"));
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(body["orderId"], json!(order), "{user}");
    }
    // A killed holder's lease ends by itself.
    crate::shop_rig::until(async || match rig.redis_do::<Vec<String>>("KEYS lock:*") {
        left if left.is_empty() => Ok(()),
        left => Err(format!("{left:?}")),
    })
    .await;
}

fn page(told: &Told, caught: &[u64], took: Duration) -> String {
    let mut page = String::from("| | |\n|---|---|\n");
    let mut sorted = caught.to_vec();
    sorted.sort_unstable();
    let hit = caught.iter().filter(|requests| **requests > 0).count();
    for (what, value) in [
        ("kills", format!("{} in {} s", caught.len(), took.as_secs())),
        ("kills with requests under way", format!("{hit} (median {})", sorted[sorted.len() / 2])),
        ("intents", (told.orders.len() + told.parked.len()).to_string()),
        ("attempts", told.attempts.to_string()),
        ("cut, or refused while an instance was down", told.cut.to_string()),
        ("told to come back", told.come_back.to_string()),
        ("failed", told.failed.to_string()),
        ("left to a person", told.parked.len().to_string()),
        ("books broken", "0".to_owned()),
    ] {
        let _ = writeln!(page, "| {what} | {value} |");
    }
    page.push_str(
        "\nTwo instances; one of them is killed at a random moment and started again. Each intent is \
         asked for until its answer is definite, and paid until it is, \
         while the provider loses one reply in fifty and fails after one charge in fifty; then every \
         order, unit of stock, movement, charge and record is compared with what its buyer was told.\n",
    );
    page
}
