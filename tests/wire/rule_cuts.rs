//! Partitions, and a server that is another one from some moment on.

use std::io::{Read, Write};
use std::net::TcpStream;

use dupeproof::history::{FaultId, FiringEnd, InstanceId, Proof, Wire};
use dupeproof::profile::Cut;
use tokio::time::timeout;

use crate::armed::Notices;
use crate::drivers::local;
use crate::ends::{End, LIMIT, rest};
use crate::lab::Ground;
use crate::watched::Watched;

fn connect(watched: &Watched, door: usize) -> TcpStream {
    let stream = TcpStream::connect(watched.address(door)).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    stream
}

fn ask(mut stream: &TcpStream, request: &str) -> String {
    stream.write_all(request.as_bytes()).unwrap();
    let mut reply = [0; 64];
    let count = stream.read(&mut reply).unwrap();
    String::from_utf8_lossy(&reply[..count]).trim_end().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_instance_is_cut_off_and_comes_back() {
    let ground = Ground::start().await;
    let redis = local(ground.redis_port());
    let doors = vec![(Wire::Redis, redis, Some(0)), (Wire::Redis, redis, Some(1))];
    let mut watched = Watched::servers(doors).await;
    let (mut notices, _armed) = Notices::of(&mut watched, Vec::new()).await;
    for how in [Cut::Refuse, Cut::BlackHole] {
        let (cut, other) = (connect(&watched, 0), connect(&watched, 1));
        assert_eq!((ask(&cut, "PING\r\n"), ask(&other, "PING\r\n")), pongs());
        let instance = Some(InstanceId(0));
        let armed =
            watched.proxies().partition(FaultId(3), Wire::Redis, instance, how).await.unwrap();
        let (notice, firing) = notices.fired().await;
        assert_eq!((notice.facts.fault, firing.instance), (FaultId(3), instance));
        assert_eq!(ask(&other, "PING\r\n"), "+PONG");
        let before = links(&mut watched).await;
        let late = connect(&watched, 0);
        if how == Cut::Refuse {
            assert_eq!(rest(&cut), (Vec::new(), End::Reset));
            assert_eq!(rest(&late), (Vec::new(), End::Reset));
        }
        // Both have met it before it is healed.
        let is_met = async { while links(&mut watched).await == before {} };
        timeout(LIMIT, is_met).await.expect("it is accepted");
        watched.proxies().heal(armed).await.unwrap();
        assert_eq!(notices.effect().await, Proof::Cut { links: 1, refused: 1 });
        assert_eq!(notices.ended().await, FiringEnd::Healed);
        if how == Cut::BlackHole {
            assert_eq!(rest(&cut), (Vec::new(), End::Reset));
        }
        assert_eq!(ask(&connect(&watched, 0), "PING\r\n"), "+PONG");
    }
    watched.end().await;
    ground.stop().await;
}

/// Connections that the first door has accepted.
async fn links(watched: &mut Watched) -> u64 {
    watched.proxies().counts().await.unwrap()[0].links
}

fn pongs() -> (String, String) {
    ("+PONG".to_owned(), "+PONG".to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_another_one_from_now_on() {
    let (ground, spare) = (Ground::start().await, Ground::start().await);
    let mut watched = Watched::servers(vec![(Wire::Redis, local(ground.redis_port()), None)]).await;
    let (mut notices, _armed) = Notices::of(&mut watched, Vec::new()).await;
    let before = connect(&watched, 0);
    assert_eq!(ask(&before, "SET lock:1 a\r\n"), "+OK");
    let to = local(spare.redis_port()).into();
    watched.proxies().swap(FaultId(5), Wire::Redis, to).await.unwrap();
    notices.fired().await;
    assert_eq!(rest(&before), (Vec::new(), End::Reset));
    assert_eq!(ask(&connect(&watched, 0), "GET lock:1\r\n"), "$-1");
    assert_eq!(notices.effect().await, Proof::Swapped { links: 1 });
    assert_eq!(notices.ended().await, FiringEnd::AtOnce);
    watched.end().await;
    ground.stop().await;
    spare.stop().await;
}
