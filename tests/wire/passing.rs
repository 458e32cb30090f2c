//! Recorded streams through a proxy, cut anywhere: the other end gets the same bytes.

use std::io::Write;
use std::net::TcpStream;
use std::thread;

use dupeproof::history::Wire;
use proptest::prelude::*;

use crate::ends::{End, Stage, rest, send, shut};
use crate::postgres_messages::{any_reply, any_request, start, startup};
use crate::redis_meaning::array;

fn cut(mut stream: &TcpStream, bytes: &[u8], sizes: &[usize]) {
    let mut rest = bytes;
    for size in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, behind) = rest.split_at((*size).min(rest.len()));
        stream.write_all(piece).unwrap();
        rest = behind;
    }
    shut(stream);
}

fn stream(protocol: Wire) -> BoxedStrategy<(Vec<u8>, Vec<u8>)> {
    let many = |one: BoxedStrategy<Vec<u8>>| {
        proptest::collection::vec(one, 0..30).prop_map(|all| all.concat()).boxed()
    };
    // A hello of TLS is refused, and a request for encryption answered.
    let garbage = || {
        let bytes = proptest::collection::vec(any::<u8>(), 0..2000);
        let is_asking =
            |bytes: &Vec<u8>| bytes.starts_with(&[0x16, 3]) || bytes.starts_with(&[0; 3]);
        bytes.prop_filter("it asks for encryption", move |bytes| !is_asking(bytes)).boxed()
    };
    let (asked, answered) = match protocol {
        Wire::Redis => {
            let request = proptest::collection::vec("[ -~]{0,40}", 1..5)
                .prop_map(|words| array(&words.iter().map(String::as_str).collect::<Vec<_>>()));
            let reply = prop_oneof![
                Just(b"+OK\r\n".to_vec()),
                Just(b"%1\r\n+a\r\n*?\r\n:1\r\n.\r\n".to_vec()),
                Just(b">2\r\n+message\r\n$3\r\na\r\n\r\n".to_vec()),
            ];
            (many(request.boxed()), many(reply.boxed()))
        }
        Wire::Postgres => {
            let opening = prop_oneof![
                Just(startup()),
                Just(start(80_877_102, &[0, 0, 0, 1, 0, 0, 0, 2])),
                Just(start(3 << 16, b"user\0it\0replication\0true\0\0")),
            ];
            let asked = (opening, many(any_request().boxed()));
            (
                asked.prop_map(|(first, more)| [first, more].concat()).boxed(),
                many(any_reply().boxed()),
            )
        }
        Wire::Http => {
            let request = prop_oneof![
                Just(b"GET / HTTP/1.1\r\n\r\n".to_vec()),
                Just(b"HEAD / HTTP/1.1\r\nUpgrade: it\r\n\r\n".to_vec()),
                Just(b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc".to_vec()),
            ];
            let reply = prop_oneof![
                Just(
                    b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"
                        .to_vec()
                ),
                Just(b"HTTP/1.1 100 Continue\r\n\r\n".to_vec()),
                Just(b"HTTP/1.1 101 Switching Protocols\r\n\r\n".to_vec()),
            ];
            (many(request.boxed()), many(reply.boxed()))
        }
    };
    prop_oneof![4 => (asked, answered), 1 => (garbage(), garbage())].boxed()
}

fn any_stream() -> impl Strategy<Value = (Wire, (Vec<u8>, Vec<u8>))> {
    prop_oneof![Just(Wire::Redis), Just(Wire::Postgres), Just(Wire::Http)]
        .prop_flat_map(|protocol| (Just(protocol), stream(protocol)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_cut_of_any_stream_arrives_unchanged(
        (protocol, (asked, answered)) in any_stream(),
        sizes in proptest::collection::vec(1..900_usize, 1..20),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let stage = Stage::set(protocol).await;
            let (client, server) = stage.link();
            thread::scope(|scope| {
                scope.spawn(|| cut(&client, &asked, &sizes));
                scope.spawn(|| cut(&server, &answered, &sizes));
                let told = scope.spawn(|| rest(&client));
                assert_eq!(rest(&server), (asked.clone(), End::Orderly));
                assert_eq!(told.join().unwrap(), (answered.clone(), End::Orderly));
            });
            stage.until(|counts| counts.open == 0).await;
            stage.stop().await;
        });
    }
}

#[tokio::test]
async fn four_hundred_links_at_once_keep_apart() {
    let stage = Stage::set(Wire::Redis).await;
    let links: Vec<_> = (0..400).map(|_| stage.link()).collect();
    for (number, (client, server)) in links.iter().enumerate() {
        send(client, &array(&["GET", &number.to_string()]));
        shut(client);
        send(server, format!(":{number}\r\n").as_bytes());
        shut(server);
    }
    for (number, (client, server)) in links.iter().enumerate() {
        assert_eq!(rest(server), (array(&["GET", &number.to_string()]), End::Orderly));
        assert_eq!(rest(client), (format!(":{number}\r\n").into_bytes(), End::Orderly));
    }
    stage.until(|counts| counts.open == 0).await;
    stage.stop().await;
}
