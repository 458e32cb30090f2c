//! What a PostgreSQL connection carries, as steps: the traces of drivers, message by message.

use dupeproof::history::{Standing, Wire};

use crate::ends::send;
use crate::postgres_messages::{
    about, bind, complete, execute, message, parse, query, ready, startup, sync, trouble,
};
use crate::watched::{Watched, exchange};

type Link = (std::net::TcpStream, std::net::TcpStream);

async fn connected() -> (Watched, Link) {
    let watched = Watched::set(Wire::Postgres).await;
    watched.expect_two().await;
    let link = watched.link();
    let authentication = message(b'R', &[&[0; 4]]);
    let key = message(b'K', &[&[0, 0, 16, 1], &[9; 4]]);
    exchange(&link, &startup(), &[authentication, key, ready(b'I')].concat());
    (watched, link)
}

fn parsed() -> Vec<u8> {
    message(b'1', &[])
}

fn bound() -> Vec<u8> {
    message(b'2', &[])
}

const INSERT: &str = "INSERT INTO orders (user_id, n) VALUES ($1, $2)";

#[tokio::test]
async fn a_transaction_belongs_to_whom_its_parameters_name() {
    let (watched, link) = connected().await;
    exchange(&link, &sync(), &ready(b'I'));
    exchange(&link, &query("BEGIN;"), &[complete("BEGIN"), ready(b'T')].concat());
    let prepare = [parse("s1", INSERT, &[25, 23]), about(b'D', b'S', "s1"), sync()].concat();
    let described = [parsed(), message(b't', &[&[0; 2]]), message(b'n', &[]), ready(b'T')].concat();
    exchange(&link, &prepare, &described);
    let values: [Option<&[u8]>; 2] = [Some(b"u-run-001"), Some(&[0, 0, 0, 7])];
    let insert = [bind("", "s1", &[0, 1], &values), execute(""), sync()].concat();
    exchange(&link, &insert, &[bound(), complete("INSERT 0 1"), ready(b'T')].concat());
    exchange(&link, &query("END"), &[complete("COMMIT"), ready(b'I')].concat());
    // Its plain text, with its values in it, and the product alone.
    let update = "UPDATE stock SET n = n - 1 WHERE id = 9000000";
    exchange(&link, &query(update), &[complete("UPDATE 1"), ready(b'I')].concat());
    let seen = watched.end().await;
    assert_eq!(
        seen.told(),
        [
            "postgres BEGIN in 1: done BEGIN, open",
            "postgres INSERT orders (order-insert) of 1 in 1: done INSERT 0 1, open",
            "postgres COMMIT (commit) of 1 in 1: done COMMIT, idle",
            "postgres UPDATE stock (stock-write): done UPDATE 1, idle",
        ]
    );
    assert_eq!(seen.history.steps[3].product, Some(9_000_000));
    assert_eq!(seen.history.links[0].backend, Some(4_097));
    let statement = seen.history.steps[1].statement.unwrap();
    assert_eq!(seen.history.statements[statement.0 as usize].sql, INSERT);
    let wire = &seen.wires[0];
    assert_eq!((wire.steps, wire.of_the_run, wire.noise), (4, 2, 2), "{wire:?}");
}

#[tokio::test]
async fn several_steps_under_one_sync_are_steps_of_their_own() {
    let (watched, link) = connected().await;
    let step = |sql: &str, values: &[Option<&[u8]>]| {
        [parse("", sql, &[]), bind("", "", &[], values), about(b'D', b'P', ""), execute("")]
            .concat()
    };
    let user: &[Option<&[u8]>] = &[Some(b"u-run-000"), Some(b"1")];
    let unit =
        [step("BEGIN", &[]), step(INSERT, user), step(INSERT, user), step("COMMIT", &[]), sync()]
            .concat();
    let of = |tag: &str| [parsed(), bound(), message(b'n', &[]), complete(tag)].concat();
    let told = [
        of("BEGIN"),
        of("INSERT 0 1"),
        parsed(),
        bound(),
        message(b'n', &[]),
        trouble(b'E', "23505", "twice"),
        ready(b'E'),
    ]
    .concat();
    exchange(&link, &unit, &told);
    let rollback = [complete("ROLLBACK"), ready(b'I')].concat();
    exchange(&link, &query("COMMIT"), &rollback);
    let seen = watched.end().await;
    assert_eq!(
        seen.told(),
        [
            "postgres BEGIN in 1: done BEGIN",
            "postgres INSERT orders (order-insert) of 0 in 1: done INSERT 0 1",
            "postgres INSERT orders (order-insert) of 0 in 1: failed 23505",
            "postgres COMMIT (commit) of 0 in 1: skipped",
            "postgres COMMIT (commit) in 2: done ROLLBACK, idle",
        ]
    );
}

#[tokio::test]
async fn a_flush_is_answered_without_the_end_of_a_unit() {
    let (watched, link) = connected().await;
    let flush = message(b'H', &[]);
    let prepare = [parse("a", INSERT, &[]), about(b'D', b'S', "a"), flush.clone()].concat();
    let told = [parsed(), message(b't', &[&[0; 2]]), message(b'n', &[])].concat();
    exchange(&link, &prepare, &told);
    let run = [bind("", "a", &[], &[Some(b"u-run-000"), None]), execute(""), flush].concat();
    exchange(&link, &run, &[bound(), complete("INSERT 0 1")].concat());
    exchange(
        &link,
        &[about(b'C', b'S', "a"), sync()].concat(),
        &[message(b'3', &[]), ready(b'I')].concat(),
    );
    let reset = "SELECT pg_advisory_unlock_all();\nCLOSE ALL;\nUNLISTEN *;\nRESET ALL;";
    let done = [complete("SELECT 1"), complete("CLOSE CURSOR ALL"), ready(b'I')].concat();
    exchange(&link, &query(reset), &done);
    let seen = watched.end().await;
    assert_eq!(seen.told(), ["postgres INSERT orders (order-insert) of 0: done INSERT 0 1"]);
}

#[tokio::test]
async fn units_in_flight_are_told_apart() {
    let (watched, link) = connected().await;
    // What tokio-postgres sends when a transaction is dropped and the next one begins.
    let asked = [
        about(b'C', b'S', "s0"),
        sync(),
        query("ROLLBACK"),
        query("START TRANSACTION"),
        parse("s1", INSERT, &[]),
        bind("", "s1", &[], &[Some(b"u-run-001"), None]),
        execute(""),
        sync(),
    ]
    .concat();
    let told = [
        message(b'3', &[]),
        ready(b'I'),
        trouble(b'N', "25P01", "there is no transaction in progress"),
        complete("ROLLBACK"),
        ready(b'I'),
        complete("START TRANSACTION"),
        ready(b'T'),
        parsed(),
        bound(),
        message(b's', &[]),
        ready(b'T'),
    ]
    .concat();
    exchange(&link, &asked, &told);
    let seen = watched.end().await;
    let insert = "postgres INSERT orders (order-insert) of 1 in 1: done suspended, open";
    assert_eq!(seen.told(), ["postgres BEGIN in 1: done START TRANSACTION, open", insert]);
    assert_eq!(seen.history.steps[1].standing, Some(Standing::Open));
    assert_eq!(seen.wires[0].noise, 2, "a close alone, and a rollback of nothing");
}

#[tokio::test]
async fn a_copy_is_one_step_and_what_cannot_be_named_is_counted() {
    let (watched, link) = connected().await;
    let copy = query("COPY orders FROM STDIN");
    exchange(&link, &copy, &message(b'G', &[&[0, 0, 1, 0, 0]]));
    let data = [message(b'd', &[b"1\n"]), message(b'c', &[])].concat();
    exchange(&link, &data, &[complete("COPY 1"), ready(b'I')].concat());
    let syntax = [trouble(b'E', "42601", "syntax error"), ready(b'I')].concat();
    exchange(&link, &query("dupeproof"), &syntax);
    send(&link.1, &trouble(b'E', "57P01", "terminated"));
    let seen = watched.end().await;
    assert_eq!(seen.told(), ["postgres COPY orders: done COPY 1, idle"]);
    let unnamed: Vec<_> = seen.wires[0].unnamed.iter().collect();
    assert_eq!(unnamed, [(&"an unknown client".to_owned(), &1)]);
}

#[tokio::test]
async fn a_text_that_is_cut_says_so() {
    let (watched, link) = connected().await;
    let long = format!("UPDATE stock SET note = '{}' WHERE id = 1", "x".repeat(9_000));
    for sql in [long.as_str(), "UPDATE stock SET n = 1"] {
        exchange(&link, &query(sql), &[complete("UPDATE 1"), ready(b'I')].concat());
    }
    let seen = watched.end().await;
    assert_eq!(seen.told(), ["postgres UPDATE stock (stock-write): done UPDATE 1, idle"; 2]);
    let texts: Vec<_> = seen.history.statements.iter().map(|it| it.sql.as_str()).collect();
    assert!(texts[0].starts_with("UPDATE stock SET note = 'xxx") && texts[0].ends_with("x…"));
    assert_eq!(texts[1], "UPDATE stock SET n = 1");
}

#[tokio::test]
async fn a_password_that_is_given_is_not_written_down() {
    let (watched, link) = connected().await;
    for sql in ["create role bob login PassWord 'secret99'", "ALTER USER bob PASSWORD 'secret99'"] {
        exchange(&link, &query(sql), &[complete("CREATE ROLE"), ready(b'I')].concat());
    }
    let seen = watched.end().await;
    assert_eq!(seen.told().len(), 2);
    assert!(seen.history.statements.is_empty() && !seen.told().join(" ").contains("secret"));
}
