//! What a Redis connection carries, as steps.

use dupeproof::history::Wire;

use crate::ends::{End, exactly, reset, rest, send};
use crate::redis_meaning::array;
use crate::watched::{Watched, exchange};

const UNLOCK: &str = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

#[tokio::test]
async fn a_lease_is_followed_from_its_grant_to_its_removal() {
    let watched = Watched::set(Wire::Redis).await;
    watched.expect_two().await;
    let link = watched.link();
    let about = array(&["CLIENT", "SETINFO", "LIB-NAME", "redis-py"]);
    exchange(&link, &about, b"+OK\r\n");
    let key = "lock:order:u-run-000";
    let set = array(&["set", key, "tok-0123456789", "PX", "3000", "nx"]);
    exchange(&link, &set, b"+OK\r\n");
    // Another intent is not let in, and the token names nobody else.
    exchange(&link, &array(&["SET", key, "tok-b-23456789", "NX", "PX", "3000"]), b"$-1\r\n");
    let sha = sha1(UNLOCK);
    let evalsha = array(&["EVALSHA", &sha, "1", key, "tok-0123456789"]);
    exchange(&link, &evalsha, b"-NOSCRIPT No matching script\r\n");
    exchange(&link, &array(&["SCRIPT", "LOAD", UNLOCK]), format!("+{sha}\r\n").as_bytes());
    exchange(&link, &evalsha, b":1\r\n");
    exchange(&link, &array(&["EVAL", UNLOCK, "1", key, "tok-0123456789"]), b":0\r\n");
    let seen = watched.end().await;
    assert_eq!(
        seen.told(),
        [
            "redis SET lock:order (lock) of 0: done OK",
            "redis SET lock:order (lock) of 0: done nil",
            "redis EVAL unlock lock:order (unlock) of 0: done 1",
            "redis EVAL unlock lock:order (unlock) of 0: done 0",
        ]
    );
    let steps = &seen.history.steps;
    assert_eq!((steps[0].lease_ms, steps[0].subject.as_deref()), (Some(3_000), Some(key)));
    assert_eq!(steps[0].token, steps[2].token);
    assert_ne!(steps[0].token, steps[1].token);
    assert!(steps[2].compares && !steps[0].compares);
    assert_eq!(seen.history.links[0].driver.as_deref(), Some("redis-py"));
    let [redis] = seen.wires.as_slice() else { panic!("{:?}", seen.wires) };
    assert_eq!((redis.steps, redis.of_the_run, redis.noise, redis.links), (4, 5, 3, 1));
}

fn sha1(source: &str) -> String {
    let mut sha1 = sha1_smol::Sha1::new();
    sha1.update(source.as_bytes());
    sha1.digest().to_string()
}

#[tokio::test]
async fn pipelines_pushes_and_transactions_are_paired_in_order() {
    let watched = Watched::set(Wire::Redis).await;
    watched.expect_two().await;
    let link = watched.link();
    let request = [
        array(&["GET", "idem:orders:u-run-001:k-run-001"]),
        array(&["MULTI"]),
        array(&["INCR", "fence:stock:9000000"]),
        array(&["SETNX", "lock:stock:9000000", "tok-b-23456789"]),
        array(&["EXEC"]),
        b"PING\r\n\r\n".to_vec(),
        array(&["PEXPIRE", "lock:stock:9000000", "500"]),
    ]
    .concat();
    let reply = b"_\r\n+OK\r\n>2\r\n+invalidate\r\n*0\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n:8\r\n:1\r\n\
        +PONG\r\n-OOM no memory\r\n";
    exchange(&link, &request, reply);
    let seen = watched.end().await;
    assert_eq!(
        seen.told(),
        [
            "redis GET idem:orders (claim) of 1: done nil",
            "redis INCR fence:stock (fence) in 1: done QUEUED",
            "redis SETNX lock:stock (lock) in 1: done QUEUED",
            "redis EXEC in 1: done 2 values",
            "redis PEXPIRE lock:stock (renew): failed OOM",
        ]
    );
    assert_eq!(seen.history.steps[1].product, Some(9_000_000));
}

#[tokio::test]
async fn what_has_no_answer_of_its_own_ends_the_pairing() {
    for last in
        [array(&["SUBSCRIBE", "news"]), b"MONITOR\r\n".to_vec(), array(&["CLIENT", "REPLY", "OFF"])]
    {
        let watched = Watched::set(Wire::Redis).await;
        let (client, server) = watched.link();
        let asked = [array(&["GET", "before"]), last, array(&["GET", "behind"])].concat();
        send(&client, &asked);
        assert_eq!(exactly(&server, asked.len()), asked);
        let told = b"$1\r\n1\r\n*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n+a line\r\n";
        send(&server, told);
        assert_eq!(exactly(&client, told.len()), told);
        let seen = watched.end().await;
        assert_eq!(seen.told(), ["redis GET before: done 1"]);
        assert_eq!(seen.wires[0].unread, 1);
    }
}

#[tokio::test]
async fn a_driver_that_asks_again_by_itself_is_told_from_its_application() {
    let watched = Watched::set(Wire::Redis).await;
    watched.expect_two().await;
    let key = "lock:order:u-run-000";
    let unlock = array(&["EVAL", UNLOCK, "1", key, "tok-0123456789"]);
    let (client, server) = watched.link();
    send(&client, &unlock);
    exactly(&server, unlock.len());
    reset(server);
    assert_eq!(rest(&client), (Vec::new(), End::Reset));
    let link = watched.link();
    let again = array(&["EVALSHA", &sha1(UNLOCK), "1", key, "tok-0123456789"]);
    exchange(&link, &again, b":0\r\n");
    exchange(&link, &again, b":0\r\n");
    let seen = watched.end().await;
    let steps = &seen.history.steps;
    assert_eq!(
        seen.told(),
        [
            "redis EVAL unlock lock:order (unlock) of 0: unanswered",
            "redis EVAL unlock lock:order (unlock) of 0: done 0",
            "redis EVAL unlock lock:order (unlock) of 0: done 0",
        ]
    );
    assert_eq!(steps.iter().map(|step| step.resent).collect::<Vec<_>>(), [false, true, false]);
}

#[tokio::test]
async fn a_pipeline_without_end_is_counted_and_stays_in_step() {
    const MANY: usize = 40_000;
    let watched = Watched::set(Wire::Redis).await;
    let (client, server) = watched.link();
    let asked = array(&["SET", "a", "1"]).repeat(MANY);
    let sending = {
        let client = client.try_clone().unwrap();
        let asked = asked.clone();
        std::thread::spawn(move || send(&client, &asked))
    };
    assert_eq!(exactly(&server, asked.len()).len(), asked.len());
    sending.join().unwrap();
    let reading = {
        let client = client.try_clone().unwrap();
        std::thread::spawn(move || exactly(&client, 5 * MANY).len())
    };
    send(&server, &b"+OK\r\n".repeat(MANY));
    assert_eq!(reading.join().unwrap(), 5 * MANY);
    exchange(&(client, server), &array(&["GET", "b"]), b"-ERR last\r\n");
    let seen = watched.end().await;
    let wire = &seen.wires[0];
    assert_eq!(wire.steps + wire.lost, MANY as u64 + 1);
    assert!(wire.lost > 0 && wire.steps > 1_000, "{wire:?}");
    assert_eq!(seen.told().last().unwrap(), "redis GET b: failed ERR");
}

#[tokio::test]
async fn a_word_behind_nothing_but_blanks_gets_its_reply() {
    let watched = Watched::set(Wire::Redis).await;
    let link = watched.link();
    let blanks = " ".repeat(60_000);
    exchange(&link, format!("{blanks}PING\r\n").as_bytes(), b"+PONG\r\n");
    exchange(&link, &array(&["GET", "a"]), b"$1\r\nx\r\n");
    let seen = watched.end().await;
    assert_eq!(seen.told(), ["redis GET a: done x"]);
}
