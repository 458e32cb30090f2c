//! Clients that want encryption: those who would rather have it do without, those who insist are
//! told what to do.

use std::net::TcpStream;

use dupeproof::history::{LinkId, Wire};
use dupeproof::wire::{ProxyEvent, ProxySpec, Side};
use proptest::prelude::*;

use crate::ends::{End, Proxy, Stage, exactly, reset, rest, send, shut};
use crate::postgres_messages::{complete, message, ready, startup};

const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];
const GSS_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 48];
/// How a hello of TLS begins.
const HELLO: [u8; 6] = [0x16, 3, 1, 2, 0, 1];

/// Asks for encryption, and is told no by the proxy itself.
fn ask(client: &TcpStream, request: [u8; 8]) {
    send(client, &request);
    assert_eq!(exactly(client, 1), b"N");
}

#[tokio::test]
async fn a_request_for_encryption_is_declined_and_not_passed_on() {
    let stage = Stage::set(Wire::Postgres).await;
    let (client, server) = stage.link();
    for request in [GSS_REQUEST, SSL_REQUEST] {
        ask(&client, request);
    }
    send(&client, &startup());
    assert_eq!(exactly(&server, startup().len()), startup());
    let welcome = [message(b'R', &[&[0; 4]]), complete("SELECT 1"), ready(b'I')].concat();
    send(&server, &welcome);
    assert_eq!(exactly(&client, welcome.len()), welcome);
    let counts = stage.until(|_| true).await;
    let from_server: Vec<_> = counts.kinds(Side::Server).collect();
    let expected = [("Authentication", 1), ("CommandComplete", 1), ("ReadyForQuery", 1)];
    assert_eq!(from_server, expected);
    let asked: Vec<_> = counts.kinds(Side::Client).collect();
    assert_eq!(asked, [("GSSENCRequest", 1), ("SSLRequest", 1), ("StartupMessage", 1)]);
    assert_eq!((counts.opaque, counts.refused), (0, 0));
    stage.stop().await;
}

#[tokio::test]
async fn a_client_that_leaves_after_the_no_has_insisted() {
    let mut stage = Stage::set(Wire::Postgres).await;
    for (number, request) in [SSL_REQUEST, GSS_REQUEST].into_iter().enumerate() {
        let (client, server) = stage.link();
        ask(&client, request);
        match request {
            SSL_REQUEST => shut(&client),
            _ => reset(client),
        }
        assert!(rest(&server).0.is_empty());
        drop(server);
        told_the_cure(&mut stage, number, Wire::Postgres, "sslmode=disable").await;
    }
    let counts = stage.until(|counts| counts.open == 0).await;
    assert_eq!(counts.refused, 2);
    stage.stop().await;
}

async fn told_the_cure(stage: &mut Stage, number: usize, wire: Wire, cure: &str) {
    let event = stage.event().await;
    let link = LinkId(number.try_into().unwrap());
    assert_eq!(event, ProxyEvent::Encrypted { link, wire });
    assert!(event.to_string().contains(cure), "{event}");
}

#[tokio::test]
async fn a_hello_of_tls_is_refused_with_the_cure() {
    let mut stage = Stage::set(Wire::Postgres).await;
    let (client, server) = stage.link();
    send(&client, &HELLO);
    let (told, end) = rest(&client);
    assert_eq!((told[0], end), (b'E', End::Orderly));
    let length = u32::from_be_bytes(told[1..5].try_into().unwrap());
    assert_eq!(length as usize + 1, told.len());
    let told = String::from_utf8_lossy(&told);
    assert!(told.contains("VFATAL\0") && told.contains("sslmode=disable"), "{told}");
    assert_eq!(rest(&server), (Vec::new(), End::Reset));
    told_the_cure(&mut stage, 0, Wire::Postgres, "sslmode=disable").await;
    stage.stop().await;
    for (wire, cure) in [(Wire::Redis, "redis://"), (Wire::Http, "http://")] {
        let mut stage = Stage::set(wire).await;
        let (client, server) = stage.link();
        send(&client, &HELLO);
        assert_eq!(rest(&client), (Vec::new(), End::Reset));
        assert_eq!(rest(&server), (Vec::new(), End::Reset));
        told_the_cure(&mut stage, 0, wire, cure).await;
        let counts = stage.until(|counts| counts.open == 0).await;
        assert_eq!((counts.refused, counts.client_bytes), (1, 0));
        stage.stop().await;
    }
}

#[tokio::test]
async fn an_odd_request_that_the_server_takes_is_refused_too() {
    let mut stage = Stage::set(Wire::Postgres).await;
    let (client, server) = stage.link();
    // PostgreSQL looks at the code alone, and takes longer ones.
    let odd = [0, 0, 0, 9, 4, 210, 22, 47, 0];
    send(&client, &odd);
    assert_eq!(exactly(&server, 9), odd);
    send(&server, b"S");
    let (told, end) = rest(&client);
    assert_eq!((told[0], end), (b'E', End::Orderly));
    told_the_cure(&mut stage, 0, Wire::Postgres, "sslmode=disable").await;
    stage.stop().await;
}

#[tokio::test]
async fn a_client_that_leaves_when_asked_who_it_is_is_told_of() {
    let mut stage = Stage::set(Wire::Postgres).await;
    let (client, server) = stage.link();
    send(&client, &startup());
    exactly(&server, startup().len());
    let sasl = message(b'R', &[&[0, 0, 0, 10], b"SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0"]);
    send(&server, &sasl);
    assert_eq!(exactly(&client, sasl.len()), sasl);
    drop(client);
    rest(&server);
    drop(server);
    let event = stage.event().await;
    assert_eq!(event, ProxyEvent::Unproven { link: LinkId(0) });
    assert!(event.to_string().contains("channel_binding=require"), "{event}");
    stage.stop().await;
}

#[tokio::test]
async fn a_proxy_that_other_machines_reach_must_be_asked_for() {
    let anywhere = "0.0.0.0:0".parse().unwrap();
    let upstream: std::net::SocketAddr = "127.0.0.1:1".parse().unwrap();
    let spec = ProxySpec::new(Wire::Redis, anywhere, upstream.into());
    let error = Proxy::before(spec.clone()).await.err().unwrap();
    assert!(error.to_string().contains("the redis proxy would listen on 0.0.0.0:0"), "{error}");
    let proxy = Proxy::before(ProxySpec { beyond_loopback: true, ..spec }).await.unwrap();
    assert!(proxy.address().port() > 0);
    proxy.stop().await.unwrap();
}

fn any_opening() -> impl Strategy<Value = Vec<[u8; 8]>> {
    proptest::collection::vec(prop_oneof![Just(SSL_REQUEST), Just(GSS_REQUEST)], 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 50, ..ProptestConfig::default() })]

    #[test]
    fn what_stands_behind_requests_for_encryption_passes_in_any_cut(
        opening in any_opening(),
        sizes in proptest::collection::vec(1..20_usize, 1..5),
        more in proptest::collection::vec(any::<u8>(), 0..100),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let stage = Stage::set(Wire::Postgres).await;
            let (client, server) = stage.link();
            let passed = [startup(), more].concat();
            let all = [opening.concat(), passed.clone()].concat();
            let mut sizes = sizes.iter().cycle();
            let mut left = &all[..];
            while let (Some(size), false) = (sizes.next(), left.is_empty()) {
                let (piece, behind) = left.split_at((*size).min(left.len()));
                send(&client, piece);
                left = behind;
            }
            shut(&client);
            prop_assert_eq!(rest(&server), (passed, End::Orderly));
            shut(&server);
            prop_assert_eq!(rest(&client), (b"N".repeat(opening.len()), End::Orderly));
            stage.stop().await;
            Ok(())
        })?;
    }
}
