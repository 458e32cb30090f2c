//! What the redis crate and a real Redis say to each other, cut into frames.

use dupeproof::wire::redis::{Answer, Replies, Request, Requests};
use redis::aio::MultiplexedConnection;
use redis::{AsyncCommands, AsyncConnectionConfig, Client, Script};
use redis_protocol::resp2::decode::decode as decode_resp2;
use redis_protocol::resp3::decode::complete::decode as decode_resp3;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::cuts::pass;
use crate::lab::{Ground, cuts_of};
use crate::relay::{From, Log, Relay, all};

const UNLOCK: &str = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) \
     else return 0 end";

/// Verb, keys, script, and lease in milliseconds.
type Told = (String, Vec<String>, Option<[u8; 20]>, Option<u128>);

fn told(request: &Request<'_>) -> Told {
    let keys = request.keys().map(|key| key.text().unwrap().to_owned());
    let verb = request.verb().unwrap_or_default().to_owned();
    (verb, keys.collect(), request.script(), request.lease().map(|lease| lease.as_millis()))
}

/// The requests, and the replies as they are debugged with whether each is a push.
fn cut(log: &Log, is_resp3: bool) -> (Vec<Told>, Vec<(bool, String)>) {
    let (asked, answered) = (all(log, From::Client), all(log, From::Server));
    let theirs = |bytes: &[u8], is_resp3: bool| {
        let (mut at, mut ends) = (0, Vec::new());
        while at < bytes.len() {
            at += if is_resp3 {
                decode_resp3(&bytes[at..]).unwrap().unwrap().1
            } else {
                decode_resp2(&bytes[at..]).unwrap().unwrap().1
            };
            ends.push(at as u64);
        }
        ends
    };
    let (their_requests, their_replies) = (theirs(&asked, false), theirs(&answered, is_resp3));
    let mut seen = None;
    for sizes in cuts_of(log) {
        let requests = pass(Requests::new(), 64 << 10, &asked, &sizes, told);
        let replies = pass(Replies::new(), 64 << 10, &answered, &sizes, |reply| {
            (reply.is_push(), format!("{:?}", reply.answer()))
        });
        assert_eq!((requests.opaque, requests.open), (None, None));
        assert_eq!((replies.opaque, replies.open), (None, None));
        assert!(requests.out == asked && replies.out == answered, "not a byte is changed");
        assert_eq!(requests.ends(), their_requests);
        assert_eq!(replies.ends(), their_replies);
        let requests: Vec<_> = requests.frames.into_iter().map(|frame| frame.ended).collect();
        let replies: Vec<_> = replies.frames.into_iter().map(|frame| frame.ended).collect();
        let now = (requests, replies);
        assert!(seen.as_ref().is_none_or(|seen| *seen == now), "any cut says the same");
        seen = Some(now);
    }
    seen.unwrap()
}

/// What an order service asks of its Redis, and what makes frames large or odd.
async fn use_it(connection: &mut MultiplexedConnection) {
    for token in ["token-1", "token-2"] {
        let set: Option<String> = redis::cmd("SET")
            .arg(&["lock:order:1", token, "NX", "PX", "3000"])
            .query_async(connection)
            .await
            .unwrap();
        assert_eq!(set.is_some(), token == "token-1");
    }
    let unlock = Script::new(UNLOCK);
    let mut call = unlock.key("lock:order:1");
    let removed: i64 = call.arg("token-1").invoke_async(connection).await.unwrap();
    assert_eq!(removed, 1);

    let _: () =
        connection.hset_multiple("order:1", &[("user", "u-1"), ("total", "12.50")]).await.unwrap();
    let _: std::collections::HashMap<String, String> = connection.hgetall("order:1").await.unwrap();
    let _: Option<String> = connection.hget("order:1", "missing").await.unwrap();
    let _: i64 = connection.incr("count", 1).await.unwrap();
    assert!(connection.incr::<_, _, i64>("order:1", 1).await.is_err());
    let _: () = connection.set("large", "x\r\n".repeat(1 << 16)).await.unwrap();
    let _: Vec<u8> = connection.get("large").await.unwrap();
    let _: String = redis::cmd("INFO").query_async(connection).await.unwrap();

    let mut pipeline = redis::pipe();
    for number in 0..200 {
        pipeline.rpush("list", format!("element {number}")).ignore();
    }
    let _: () = pipeline.query_async(connection).await.unwrap();
    let _: Vec<String> = connection.lrange("list", 0, -1).await.unwrap();
    let mut atomic = redis::pipe();
    atomic.atomic().set("a", 1).incr("a", 1).get("missing");
    let _: redis::Value = atomic.query_async(connection).await.unwrap();
    let deep: redis::Value = redis::cmd("EVAL")
        .arg("return {1, {2, {3, {4.5, 'x', false, {}}}}}")
        .arg(0)
        .query_async(connection)
        .await
        .unwrap();
    assert!(matches!(deep, redis::Value::Array(_)));
}

fn check(log: &Log, is_resp3: bool) {
    let (requests, replies) = cut(log, is_resp3);
    let pushes = replies.iter().filter(|(is_push, _)| *is_push).count();
    assert_eq!(requests.len(), replies.len() - pushes, "request k is answered by reply k");
    let answers: Vec<_> =
        replies.iter().filter(|(is_push, _)| !is_push).map(|(_, it)| it).collect();
    let at = |verb: &str| requests.iter().position(|told| told.0 == verb).unwrap();

    let set = at("SET");
    assert_eq!(requests[set], ("SET".into(), vec!["lock:order:1".into()], None, Some(3000)));
    assert_eq!(*answers[set + 1], "Null");
    // EVALSHA, NOSCRIPT, SCRIPT LOAD, EVALSHA: one script.
    let unlock = at("EVALSHA");
    assert_eq!(requests[unlock].1, ["lock:order:1"]);
    assert!(answers[unlock].starts_with("Error { code: [78, 79, 83, 67, 82, 73, 80, 84]"));
    assert_eq!(requests[unlock + 1].0, "SCRIPT");
    assert!(requests[unlock].2.is_some());
    assert_eq!(requests[unlock].2, requests[unlock + 1].2);
    assert_eq!(requests[unlock + 2], requests[unlock]);
    assert_eq!(*answers[unlock + 2], "Integer(1)");

    let map = if is_resp3 { "Map, count: Some(2)" } else { "Array, count: Some(4)" };
    assert_eq!(*answers[at("HGETALL")], format!("Aggregate {{ kind: {map} }}"));
    assert_eq!(*answers[at("EXEC")], "Aggregate { kind: Array, count: Some(3) }");
    assert_eq!(requests.iter().filter(|told| told.0 == "RPUSH").count(), 200);
}

#[tokio::test]
async fn the_redis_crate_is_understood_in_resp2_and_resp3() {
    let ground = Ground::start().await;
    for is_resp3 in [false, true] {
        let relay = Relay::to(ground.redis_port()).await;
        let protocol = if is_resp3 { "?protocol=resp3" } else { "" };
        let url = format!("redis://127.0.0.1:{}/{protocol}", relay.port);
        let client = Client::open(url).unwrap();
        let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
        let config = AsyncConnectionConfig::new();
        let config = if is_resp3 { config.set_push_sender(tell) } else { config };
        let config = config.set_response_timeout(None);
        let mut connection =
            client.get_multiplexed_async_connection_with_config(&config).await.unwrap();
        let _: () = redis::cmd("FLUSHALL").query_async(&mut connection).await.unwrap();
        let _: () = redis::cmd("SCRIPT").arg("FLUSH").query_async(&mut connection).await.unwrap();
        use_it(&mut connection).await;
        if is_resp3 {
            // Only what tracking pushes comes unasked on a connection that goes on as before.
            let _: () = redis::cmd("CLIENT")
                .arg(&["TRACKING", "ON"])
                .query_async(&mut connection)
                .await
                .unwrap();
            let _: i64 = connection.get("count").await.unwrap();
            let _: i64 = connection.incr("count", 1).await.unwrap();
            while told.recv().await.unwrap().kind != redis::PushKind::Invalidate {}
        }
        drop(connection);
        drop(client);
        let logs = relay.logs().await;
        assert_eq!(logs.len(), 1);
        check(&logs[0], is_resp3);
        let pushes = cut(&logs[0], is_resp3).1.into_iter().filter(|(is_push, _)| *is_push);
        assert_eq!(pushes.count() > 0, is_resp3);
    }
    ground.stop().await;
}

#[tokio::test]
async fn inline_commands_get_their_replies() {
    let ground = Ground::start().await;
    let relay = Relay::to(ground.redis_port()).await;
    let mut stream = TcpStream::connect(("127.0.0.1", relay.port)).await.unwrap();
    let typed = b"PING\r\n\r\nset k \"a b\" nx px 5000\r\nGET k\nset k \"open\r\n*0\r\nQUIT\r\n";
    stream.write_all(typed).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    drop(stream);
    let logs = relay.logs().await;
    let requests = pass(Requests::new(), 4096, &all(&logs[0], From::Client), &[3], told);
    let replies = pass(Replies::new(), 4096, &answer, &[3], |reply| match reply.answer() {
        Answer::Simple(text) | Answer::Bulk { prefix: text, .. } => text.text().unwrap().to_owned(),
        other => format!("{other:?}"),
    });
    let verbs: Vec<_> = requests.frames.iter().map(|it| it.ended.0.as_str()).collect();
    assert_eq!(verbs, ["PING", "", "SET", "GET", "", "", "QUIT"]);
    assert_eq!(requests.frames[2].ended.3, Some(5000));
    // Empty requests aren't answered; quotes without an end are, and end the connection.
    let answers: Vec<_> = replies.frames.iter().map(|it| it.ended.as_str()).collect();
    assert_eq!(answers[..3], ["PONG", "OK", "a b"]);
    assert!(answers[3].starts_with("Error"), "{answers:?}");
    ground.stop().await;
}
