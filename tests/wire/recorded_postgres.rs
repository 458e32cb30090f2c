//! What sqlx, psql and pgbench say to a real PostgreSQL, cut into frames.

use dupeproof::wire::postgres::{Backend, Frame, Frontend, Lead, Names, Reply, Request};
use dupeproof::wire::{Codec, Mark};
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tokio::process::Command;

use crate::cuts::pass;
use crate::lab::{Ground, cuts_of};
use crate::postgres_peer as peer;
use crate::relay::{From, Log, Relay, all};

/// One connection, as somebody tells it who follows both directions.
#[derive(Debug, Default, PartialEq, Eq)]
struct Told {
    /// `> ` what was asked, `< ` what was answered.
    lines: Vec<String>,
    pid: Option<u32>,
}

impl Told {
    fn count(&self, line: &str) -> usize {
        self.lines.iter().filter(|told| told.contains(line)).count()
    }
}

/// What a request does, by the SQL that it runs and its parameters.
fn asked(names: &Names, request: &Request<'_>) -> Option<String> {
    let sql = |sql: &[u8]| String::from_utf8_lossy(sql).into_owned();
    Some(match request {
        Request::Query(text) => sql(text.bytes),
        Request::Bind(bind) => {
            let statement = names.statement(bind.statement)?;
            let types = statement.types.iter().copied().chain(std::iter::repeat(0));
            let values: Vec<_> =
                bind.parameters().zip(types).map(|(value, oid)| value.text(oid)).collect();
            format!("{} {values:?}", sql(&statement.sql))
        }
        Request::Execute { portal, .. } => {
            let statement = names.portal(portal)?.statement.clone()?;
            format!("execute {}", sql(&statement.sql))
        }
        Request::SslRequest => "ssl?".to_owned(),
        Request::Password => "password".to_owned(),
        Request::Terminate => "bye".to_owned(),
        _ => return None,
    })
}

fn answered(reply: &Reply<'_>) -> Option<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some(match reply {
        Reply::Encryption(answer) => format!("encryption {}", char::from(*answer)),
        Reply::CommandComplete(tag) => text(tag.bytes),
        Reply::ReadyForQuery(transaction) => format!("{transaction:?}"),
        Reply::Error(it) => format!("error {}", text(it.code)),
        Reply::Notice(it) => format!("notice {}", text(it.message)),
        Reply::Notification { channel, .. } => format!("notification {}", text(channel)),
        Reply::ParameterStatus { name, value } => format!("{} = {}", text(name), text(value.bytes)),
        Reply::Authentication(code) => format!("authentication {code}"),
        Reply::CopyIn => "copy in".to_owned(),
        Reply::CopyOut => "copy out".to_owned(),
        _ => return None,
    })
}

/// Reads the log as a link would, piece by piece in the order in which it was said.
fn follow(log: &Log, size: usize) -> Told {
    let mut told = Told::default();
    let mut names = Names::default();
    let (mut client, mut server) = (Codec::new(Frontend::new()), Codec::new(Backend::new()));
    for (from, bytes) in log {
        for piece in bytes.chunks(size) {
            if *from == From::Client {
                let mut owed = false;
                client.spare()[..piece.len()].copy_from_slice(piece);
                client.filled(piece.len(), &mut |mark: Mark<Frame<'_>>| {
                    let Mark::Ended { frame, .. } = mark else { return };
                    let request = Request::of(&frame);
                    owed |= matches!(request, Request::SslRequest | Request::GssEncRequest);
                    told.lines.extend(asked(&names, &request).map(|line| format!("> {line}")));
                    names.sent(&request);
                });
                client.passed(piece.len());
                if owed {
                    server.scanner().owe_answer();
                }
            } else {
                server.spare()[..piece.len()].copy_from_slice(piece);
                server.filled(piece.len(), &mut |mark: Mark<Frame<'_>>| {
                    let Mark::Ended { frame, .. } = mark else { return };
                    let reply = Reply::of(&frame);
                    if let Reply::BackendKey { pid } = reply {
                        told.pid = Some(pid);
                    }
                    told.lines.extend(answered(&reply).map(|line| format!("< {line}")));
                    names.answered(&reply);
                });
                server.passed(piece.len());
            }
        }
    }
    told
}

/// Compares every cut with pgwire's, and tells the connection.
fn cut(log: &Log) -> Told {
    let (asked, answered) = (all(log, From::Client), all(log, From::Server));
    let words = |frame: &Frame<'_>, read: fn(&Frame<'_>) -> String| {
        let is_tagged = matches!(frame.lead, Lead::Tag(_));
        (is_tagged, (is_tagged && frame.body().is_whole).then(|| read(frame)))
    };
    for sizes in cuts_of(log) {
        let mut backend = Backend::new();
        if asked.starts_with(&[0, 0, 0, 8]) {
            backend.owe_answer();
        }
        let requests =
            pass(Frontend::new(), 64 << 10, &asked, &sizes, |frame| words(frame, peer::request));
        let replies = pass(backend, 64 << 10, &answered, &sizes, |frame| words(frame, peer::reply));
        assert!(requests.out == asked && replies.out == answered, "not a byte is changed");
        for (cut, theirs) in [
            (&requests, peer::their_requests as fn(&[u8], usize) -> Vec<(u64, String)>),
            (&replies, peer::their_replies_from),
        ] {
            assert_eq!((cut.opaque, cut.open), (None, None));
            let tagged = cut.frames.iter().position(|it| it.ended.0).unwrap();
            let at = usize::try_from(cut.frames[tagged].start).unwrap();
            let theirs = theirs(if std::ptr::eq(cut, &requests) { &asked } else { &answered }, at);
            assert_eq!(theirs.len(), cut.frames.len() - tagged);
            for (ours, (end, words)) in cut.frames[tagged..].iter().zip(&theirs) {
                assert_eq!(ours.end, *end);
                assert!(ours.ended.1.as_ref().is_none_or(|ours| ours == words), "{ours:?} {words}");
            }
        }
    }
    let told = follow(log, usize::MAX);
    for size in [1, 3, 1000] {
        assert_eq!(follow(log, size), told);
    }
    told
}

const INSERT: &str = "INSERT INTO orders VALUES ($1, $2, $3, $4, $5)";

async fn insert(connection: &mut PgConnection, id: i64, key: &str) -> Result<(), sqlx::Error> {
    let query = sqlx::query("INSERT INTO orders VALUES ($1, $2, $3, $4, $5)");
    let query = query.bind(id).bind(key).bind(true).bind(-3_i32).bind(None::<String>);
    query.execute(connection).await.map(drop)
}

#[tokio::test]
async fn sqlx_is_understood() {
    let ground = Ground::start().await;
    let relay = Relay::to(ground.postgres_port()).await;
    let url = format!("postgres://postgres@127.0.0.1:{}/postgres?sslmode=prefer", relay.port);
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let pid: i32 =
        sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&mut connection).await.unwrap();
    let table =
        "CREATE TABLE orders (id int8 PRIMARY KEY, key text, paid bool, n int4, note varchar)";
    sqlx::raw_sql(table).execute(&mut connection).await.unwrap();

    let mut transaction = connection.begin().await.unwrap();
    insert(&mut transaction, 9_007_199_254_740_993, "k-1").await.unwrap();
    insert(&mut transaction, 2, "k-2").await.unwrap();
    transaction.commit().await.unwrap();
    let mut transaction = connection.begin().await.unwrap();
    assert!(insert(&mut transaction, 2, "k-3").await.is_err());
    drop(transaction);

    sqlx::raw_sql("SET timezone = 'Asia/Tokyo'").execute(&mut connection).await.unwrap();
    let mut copy = connection.copy_in_raw("COPY orders (id, key) FROM STDIN").await.unwrap();
    copy.send("10\tcopied\n11\tcopied\n".as_bytes()).await.unwrap();
    assert_eq!(copy.finish().await.unwrap(), 2);
    let large: String = sqlx::query_scalar("SELECT repeat($1, 300000)")
        .bind("x")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert_eq!(large.len(), 300_000);
    let long = format!("SELECT '{}'", "y".repeat(300_000));
    sqlx::raw_sql(AssertSqlSafe(long)).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();

    let logs = relay.logs().await;
    let told = cut(&logs[0]);
    assert_eq!(told.lines[..2], ["> ssl?", "< encryption N"]);
    assert_eq!(told.pid, Some(pid.unsigned_abs()));
    // The second and third time only by the name of the first.
    for (id, key) in [("9007199254740993", "k-1"), ("2", "k-2"), ("2", "k-3")] {
        let values =
            format!("> {INSERT} [Some({id:?}), Some({key:?}), Some(\"t\"), Some(\"-3\"), None]");
        assert_eq!(told.count(&values), 1, "{values} in {:#?}", told.lines);
    }
    assert_eq!(told.count(&format!("> execute {INSERT}")), 3);
    for line in [
        "< error 23505",
        "< Failed",
        "< ROLLBACK",
        "< COMMIT",
        "< copy in",
        "< COPY 2",
        "< TimeZone = Asia/Tokyo",
        "> bye",
    ] {
        assert_eq!(told.count(line), 1, "{line} in {:#?}", told.lines);
    }
    assert_eq!(told.count("< INSERT 0 1"), 2);
    ground.stop().await;
}

/// A role with a password, which the server asks for by SCRAM.
async fn ask_for_passwords(ground: &Ground) {
    let mut connection = PgConnection::connect(&ground.lab.postgres_url).await.unwrap();
    let file: String =
        sqlx::query_scalar("SHOW hba_file").fetch_one(&mut connection).await.unwrap();
    let rules = std::fs::read_to_string(&file).unwrap();
    let rule = "host all guarded 127.0.0.1/32 scram-sha-256\n";
    std::fs::write(&file, [rule, &rules].concat()).unwrap();
    let role = "CREATE ROLE guarded LOGIN PASSWORD 'secret'; SELECT pg_reload_conf()";
    sqlx::raw_sql(role).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn scram_passes_and_is_never_looked_into() {
    let ground = Ground::start().await;
    ask_for_passwords(&ground).await;
    // The server reads its rules anew in its own time; until then nobody is asked.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(5);
    let told = loop {
        let relay = Relay::to(ground.postgres_port()).await;
        let at = format!("127.0.0.1:{}/postgres?sslmode=disable", relay.port);
        let url = format!("postgres://guarded:secret@{at}");
        PgConnection::connect(&url).await.unwrap().close().await.unwrap();
        let told = cut(&relay.logs().await[0]);
        if told.count("> password") > 0 {
            break told;
        }
        assert!(std::time::Instant::now() < deadline, "{told:?}");
    };
    let steps: Vec<_> = told.lines.iter().filter(|it| it.contains("authentication")).collect();
    let codes = [10, 11, 12, 0].map(|code| format!("< authentication {code}"));
    assert_eq!(steps, codes.iter().collect::<Vec<_>>());
    assert_eq!(told.count("> password"), 2);
    ground.stop().await;
}

/// Runs a client of PostgreSQL's own through a relay, and tells its last connection.
async fn client(ground: &Ground, program: &str, arguments: &[&str]) -> Told {
    let relay = Relay::to(ground.postgres_port()).await;
    let mut command = Command::new(program);
    command.args(arguments).env("PGHOST", "127.0.0.1").env("PGPORT", relay.port.to_string());
    command.env("PGUSER", "postgres").env("PGDATABASE", "postgres").env("PGSSLMODE", "prefer");
    let output = command.output().await.unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    let logs = relay.logs().await;
    logs.iter().map(cut).next_back().unwrap()
}

#[tokio::test]
async fn libpq_is_understood() {
    let ground = Ground::start().await;
    let copy = "COPY (SELECT generate_series(1, 3)) TO STDOUT";
    let arguments = [
        "-X",
        "-c",
        "SELECT 1; SELECT 2",
        "-c",
        "LISTEN told",
        "-c",
        "NOTIFY told",
        "-c",
        copy,
        "-c",
        "DO $$ BEGIN RAISE NOTICE 'heard'; END $$",
    ];
    let told = client(&ground, "psql", &arguments).await;
    assert_eq!((told.count("< SELECT 1"), told.count("< COPY 3")), (2, 1));
    assert_eq!((told.count("< copy out"), told.count("< notice heard")), (1, 1));
    assert_eq!(told.count("< notification told"), 1);

    let script = tempfile::NamedTempFile::new().unwrap();
    let text = "\\set id random(1, 9)\n\\startpipeline\nBEGIN;\nSELECT :id;\nSELECT :id + 1;\nCOMMIT;\n\\endpipeline\n";
    std::fs::write(script.path(), text).unwrap();
    let path = script.path().to_str().unwrap();
    for mode in ["extended", "prepared"] {
        let arguments = ["-n", "-M", mode, "-t", "20", "-f", path];
        let told = client(&ground, "pgbench", &arguments).await;
        // Several steps under one Sync.
        for (line, times) in
            [("< BEGIN", 20), ("< COMMIT", 20), ("> execute SELECT $1", 40), ("< SELECT 1", 40)]
        {
            assert_eq!(told.count(line), times, "{mode}: {line} in {:#?}", told.lines);
        }
    }
    ground.stop().await;
}
