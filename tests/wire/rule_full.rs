//! Rules where a buffer is full.

use dupeproof::history::{FiringEnd, StepPoint, Wire};
use dupeproof::profile::Failure;
use dupeproof::wire::WireAct;
use tokio::time::timeout;

use crate::armed::{HOLD, Notices, rule};
use crate::ends::{LIMIT, exactly, send};
use crate::redis_meaning::array;
use crate::watched::Watched;

/// As much as waits in one direction.
const BUFFER: usize = 64 * 1024;

#[tokio::test(flavor = "multi_thread")]
async fn an_error_whose_place_is_at_the_end_of_a_full_buffer_is_given() {
    let mut watched = Watched::set(Wire::Redis).await;
    let act = WireAct::Fail(Failure::Redis { error: "READONLY no".to_owned() });
    let rules = vec![
        rule(StepPoint::After, Wire::Redis, "SET", HOLD),
        rule(StepPoint::Before, Wire::Redis, "GET", act),
    ];
    let (mut notices, _armed) = Notices::of(&mut watched, rules).await;
    let (client, server) = watched.link();
    let first = array(&["SET", "a", "1"]);
    let between = array(&["INCR", "a"]).repeat(5_462);
    send(&client, &[first.clone(), between.clone(), array(&["GET", "a"])].concat());
    let arrives = first.len() + between.len() + array(&["PING"]).len();
    exactly(&server, arrives);
    // Three bytes of the last reply find room behind what is held.
    let told = [&b"+OK\r\n"[..], &b":100000000\r\n".repeat(5_460), b":1\r\n:1\r\n"].concat();
    assert_eq!(told.len(), BUFFER - 3);
    send(&server, &[&told[..], b"+PONG\r\n"].concat());
    let (mut hold, mut come) = (None, 0);
    let is_full = async {
        while hold.is_none() || come < BUFFER as u64 {
            if hold.is_none() {
                hold = notices.next().await.hold;
            }
            come = watched.proxies().counts().await.unwrap()[0].server_bytes;
        }
    };
    timeout(LIMIT, is_full).await.expect("it comes to that");
    watched.proxies().release(hold.unwrap(), FiringEnd::OthersAnswered).await.unwrap();
    assert!(exactly(&client, told.len()) == told);
    assert_eq!(exactly(&client, 14), b"-READONLY no\r\n");
    watched.end().await;
}
