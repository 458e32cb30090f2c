//! The instances of the shop: each is a process of its own that serves orders.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dupeproof::guard::Signal;
use dupeproof::lab::{Addresses, Lab, LabError, LabEvent, LabSpec, PaymentsSpec, Server, Servers};
use tokio::time::timeout;

use crate::backends::ask;
use crate::footprint::Footprint;
use crate::guard;
use crate::starting::spec;

/// The status of an order placed with a key of its own.
fn order(address: SocketAddr, key: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let body = r#"{"productId":1001,"quantity":2}"#;
    let length = body.len();
    write!(
        stream,
        "POST /orders HTTP/1.1\r\nHost: lab\r\nConnection: close\r\nContent-Type: application/json\r\n\
         X-User-Id: u1\r\nIdempotency-Key: {key}\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.lines().next().unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_instance_serves_orders_from_the_stock_that_was_asked_for() {
    let logs = tempfile::tempdir().unwrap();
    let guard = guard().await;
    let spec = LabSpec {
        products: vec![(1001, 50)],
        shop_flags: vec!["--pool-size=3".to_owned()],
        ..spec(&logs, 2)
    };
    let lab = Lab::start(spec, &guard).await.unwrap();
    let mut footprint = Footprint::of(lab.folder());
    assert_eq!(lab.instances.len(), 2);
    for instance in &lab.instances {
        assert_eq!(order(instance.address, &instance.name), "HTTP/1.1 201 Created");
        assert!(TcpStream::connect(instance.counter).is_ok());
        assert!(logs.path().join(format!("logs/{}.log", instance.name)).exists());
    }
    let left = "SELECT available::text FROM product_stock WHERE product_id = 1001";
    assert_eq!(ask(&lab.postgres_url, left).await.unwrap(), "46");
    lab.stock_products(&[(1001, 7), (1002, 1)]).await.unwrap();
    assert_eq!(ask(&lab.postgres_url, left).await.unwrap(), "7");
    let connections =
        "SELECT count(*)::text FROM pg_stat_activity WHERE backend_type = 'client backend'";
    assert_eq!(ask(&lab.postgres_url, connections).await.unwrap(), "7", "2 x 3, and this one");

    let processes: Vec<_> = lab.instances.iter().map(|instance| instance.process).collect();
    footprint.look();
    lab.stop().await.unwrap();
    assert_eq!(footprint.left(), Ok(()));
    assert!(processes.iter().all(|process| process.has_ended()));
    guard.finish().await.unwrap();
}

/// Passes connections on to a server, and counts them.
async fn passing(server: SocketAddr) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, count) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&count);
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(async move {
                let mut server = tokio::net::TcpStream::connect(server).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
            });
        }
    });
    (address, count)
}

#[tokio::test(flavor = "multi_thread")]
async fn each_instance_uses_the_addresses_that_it_is_told() {
    let logs = tempfile::tempdir().unwrap();
    let guard = guard().await;
    let spec = LabSpec { products: vec![(1001, 50)], ..spec(&logs, 2) };
    let servers = Servers::start(spec, &guard).await.unwrap();
    let own = servers.addresses();
    assert_eq!((servers.instances(), own.payments), (2, None));
    let (postgres, to_postgres) = passing(own.postgres).await;
    let (redis, to_redis) = passing(own.redis).await;
    let lab = servers.start_instances(|number| match number {
        0 => own,
        _ => Addresses { postgres, redis, ..own },
    });
    let lab = lab.await.unwrap();
    let passed = || [&to_postgres, &to_redis].map(|count| count.load(Ordering::Relaxed));
    let at_the_start = passed();
    assert!(at_the_start.iter().all(|count| *count > 0), "{at_the_start:?}");
    assert_eq!(lab.postgres_url, own.postgres_url(), "whoever asks the lab goes there directly");
    for instance in &lab.instances {
        assert_eq!(order(instance.address, &instance.name), "HTTP/1.1 201 Created");
    }
    lab.stop().await.unwrap();
    guard.finish().await.unwrap();
}

#[tokio::test]
async fn servers_alone_are_gone_when_they_are_dropped() {
    let logs = tempfile::tempdir().unwrap();
    let guard = guard().await;
    let servers = Servers::start(spec(&logs, 1), &guard).await.unwrap();
    let addresses = servers.addresses();
    drop(servers);
    for address in [addresses.postgres, addresses.redis] {
        assert!(TcpStream::connect(address).is_err(), "{address} still listens");
    }
    guard.finish().await.unwrap();
}

#[tokio::test]
async fn a_killed_instance_is_an_event_and_the_others_serve_on() {
    let logs = tempfile::tempdir().unwrap();
    let guard = guard().await;
    let spec = LabSpec { products: vec![(1001, 50)], ..spec(&logs, 2) };
    let mut lab = Lab::start(spec, &guard).await.unwrap();
    let mut events = lab.events().unwrap();
    lab.instances[1].process.open().unwrap().signal(Signal::Kill).unwrap();
    let event = timeout(Duration::from_secs(5), events.recv()).await.unwrap().unwrap();
    let LabEvent::Exited { what, status, .. } = event;
    assert_eq!((what, status.as_str()), (Server::Instance(1), "signal: 9 (SIGKILL)"));
    assert_eq!(order(lab.instances[0].address, "k1"), "HTTP/1.1 201 Created");
    lab.stop().await.unwrap();
    guard.finish().await.unwrap();
}

#[tokio::test]
async fn a_payment_provider_comes_up_with_the_lab_and_ends_with_it() {
    let logs = tempfile::tempdir().unwrap();
    let guard = guard().await;
    let payments = Some(PaymentsSpec { flags: vec!["--delay=1ms".to_owned()] });
    let mut lab = Lab::start(LabSpec { payments, ..spec(&logs, 1) }, &guard).await.unwrap();
    let mut footprint = Footprint::of(lab.folder());
    let provider = lab.payments.clone().unwrap();
    assert!(TcpStream::connect(provider.address).is_ok());
    assert!(TcpStream::connect(provider.control).is_ok());
    assert!(provider.ledger.ends_with("logs/payments.jsonl") && provider.ledger.exists());
    assert_eq!(lab.process(Server::Payments), Some(provider.process));
    footprint.look();
    let mut events = lab.events().unwrap();
    provider.process.open().unwrap().signal(Signal::Kill).unwrap();
    let event = timeout(Duration::from_secs(5), events.recv()).await.unwrap().unwrap();
    let LabEvent::Exited { what, .. } = event;
    assert_eq!(what, Server::Payments);
    lab.stop().await.unwrap();
    assert_eq!(footprint.left(), Ok(()));
    assert!(provider.process.has_ended());
    guard.finish().await.unwrap();
}

#[tokio::test]
async fn an_instance_that_refuses_its_flags_is_quoted() {
    let logs = tempfile::tempdir().unwrap();
    let guard = guard().await;
    let spec = LabSpec { defects: vec!["unlock-never".to_owned()], ..spec(&logs, 1) };
    let error = Lab::start(spec, &guard).await.unwrap_err();
    assert!(matches!(&error, LabError::Died { what, .. } if what == "shop-0"), "{error}");
    assert!(error.to_string().contains("unlock-never"), "{error}");
    guard.finish().await.unwrap();
}
