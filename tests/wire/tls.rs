//! Servers that are spoken to over TLS, and a target that speaks to their proxies in plain.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::Duration;

use dupeproof::history::{LinkId, Wire};
use dupeproof::wire::{Counts, ProxyEvent, ProxySpec, ServerTls, Side, Trust, Upstream};
use redis::Client;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use sqlx::{Connection, PgConnection};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use crate::ends::{LIMIT, Proxy, until};
use crate::lab::Ground;

/// A certificate for `localhost` that vouches for itself, and its key, as files.
struct Papers {
    folder: TempDir,
}

impl Papers {
    fn issue() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        std::fs::write(folder.path().join("cert.pem"), made.cert.pem()).unwrap();
        std::fs::write(folder.path().join("key.pem"), made.signing_key.serialize_pem()).unwrap();
        Self { folder }
    }

    fn certificate(&self) -> PathBuf {
        self.folder.path().join("cert.pem")
    }

    fn key(&self) -> PathBuf {
        self.folder.path().join("key.pem")
    }

    fn trusted(&self) -> Trust {
        Trust::File(self.certificate())
    }
}

/// A proxy in front of a server that is known by its name.
async fn proxy(wire: Wire, port: u16, trust: Trust) -> Proxy {
    let tls = Some(ServerTls { trust, server_name: None });
    let upstream = Upstream { host: "localhost".to_owned(), port, tls };
    let listen = "127.0.0.1:0".parse().unwrap();
    Proxy::before(ProxySpec::new(wire, listen, upstream)).await.unwrap()
}

/// Nothing was said about it that somebody would have to hear.
async fn finish(proxy: Proxy) -> Counts {
    let counts = until(&proxy, |counts| counts.open == 0).await;
    let troubles = (counts.opaque, counts.unreached, counts.refused, counts.reset);
    assert_eq!(troubles, (0, 0, 0, 0), "{counts:?}");
    proxy.stop().await.unwrap();
    counts
}

/// What is told of a server whose certificate isn't believed.
async fn doubted(proxy: &mut Proxy) -> String {
    let event = timeout(LIMIT, proxy.events().unwrap().recv()).await.unwrap().unwrap();
    assert!(matches!(event, ProxyEvent::Unreached { link: LinkId(0), .. }), "{event:?}");
    event.to_string()
}

/// Has PostgreSQL write a file of its own data folder, for nobody else to read.
async fn write(connection: &mut PgConnection, name: &str, text: &str) {
    let copy = format!(
        "COPY (SELECT regexp_split_to_table('{text}', '\\n')) TO PROGRAM 'umask 077; cat > {name}'"
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(copy)).execute(connection).await.unwrap();
}

/// A PostgreSQL with this certificate, whose user `teller` needs a password.
async fn encrypt(ground: &Ground, papers: &Papers) {
    let mut connection = PgConnection::connect(&ground.lab.postgres_url).await.unwrap();
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    write(&mut connection, "server.crt", &read(&papers.certificate())).await;
    write(&mut connection, "server.key", &read(&papers.key())).await;
    let rules = "host all teller 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust";
    write(&mut connection, "pg_hba.conf", rules).await;
    for statement in [
        "CREATE USER teller PASSWORD 'of tales'",
        "ALTER SYSTEM SET ssl = on",
        "SELECT pg_reload_conf()",
    ] {
        sqlx::raw_sql(statement).execute(&mut connection).await.unwrap();
    }
    connection.close().await.unwrap();
    let url = ground.lab.postgres_url.replace("sslmode=disable", "sslmode=require");
    let takes_tls = async {
        while PgConnection::connect(&url).await.is_err() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(LIMIT, takes_tls).await.unwrap();
}

/// What psql is told through a proxy, or why it wasn't.
async fn psql(proxy: &Proxy, user: &str, settings: &str, sql: &str) -> Result<String, String> {
    let port = proxy.address().port();
    let at = format!("host=127.0.0.1 port={port} user={user} dbname=postgres {settings}");
    let mut command = Command::new("psql");
    command.args(["-X", "-w", "-A", "-t", "-c", sql, &at]).env("PGPASSWORD", "of tales");
    let output = timeout(LIMIT, command.output()).await.unwrap().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|said| String::from_utf8(said).unwrap());
    if output.status.success() { Ok(out.trim().to_owned()) } else { Err(err) }
}

const IS_ENCRYPTED: &str = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";

#[tokio::test]
async fn postgres_is_verified_and_spoken_to_over_tls() {
    let (ground, papers) = (Ground::start().await, Papers::issue());
    encrypt(&ground, &papers).await;
    let front = proxy(Wire::Postgres, ground.postgres_port(), papers.trusted()).await;
    for mode in ["disable", "prefer"] {
        let mode = format!("sslmode={mode}");
        assert_eq!(psql(&front, "postgres", &mode, IS_ENCRYPTED).await.unwrap(), "t");
        // SCRAM without channel binding, although the server offers it.
        assert_eq!(psql(&front, "teller", &mode, IS_ENCRYPTED).await.unwrap(), "t");
    }
    let url = format!("postgres://teller:of%20tales@{}/postgres", front.address());
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let rows: Vec<String> =
        sqlx::query_scalar("SELECT repeat('x', 1000) FROM generate_series(1, 20000)")
            .fetch_all(&mut connection)
            .await
            .unwrap();
    assert!(rows.len() == 20_000 && rows.iter().all(|row| row.len() == 1_000));
    connection.close().await.unwrap();
    let counts = finish(front).await;
    assert_eq!((counts.links, counts.frames(Side::Server, "DataRow")), (5, 20_004));
    ground.stop().await;
}

#[tokio::test]
async fn a_target_that_insists_is_told_how_not_to() {
    let (ground, papers) = (Ground::start().await, Papers::issue());
    encrypt(&ground, &papers).await;
    let mut front = proxy(Wire::Postgres, ground.postgres_port(), papers.trusted()).await;
    let mut events = front.events().unwrap();
    let why = psql(&front, "postgres", "sslmode=require", "SELECT 1").await.unwrap_err();
    assert!(why.contains("server does not support SSL"), "{why}");
    let event = timeout(LIMIT, events.recv()).await.unwrap().unwrap();
    assert_eq!(event, ProxyEvent::Encrypted { link: LinkId(0), wire: Wire::Postgres });
    let bound = "sslmode=disable channel_binding=require";
    let why = psql(&front, "teller", bound, "SELECT 1").await.unwrap_err();
    assert!(why.contains("channel binding"), "{why}");
    let event = timeout(LIMIT, events.recv()).await.unwrap().unwrap();
    assert_eq!(event, ProxyEvent::Unproven { link: LinkId(1) });
    let counts = until(&front, |counts| counts.open == 0).await;
    assert_eq!((counts.refused, counts.links), (1, 2));
    front.stop().await.unwrap();
    ground.stop().await;
}

#[tokio::test]
async fn a_postgres_that_cannot_be_verified_is_not_spoken_to() {
    let (ground, papers) = (Ground::start().await, Papers::issue());
    let port = ground.postgres_port();
    let mut plain = proxy(Wire::Postgres, port, papers.trusted()).await;
    psql(&plain, "postgres", "", "SELECT 1").await.unwrap_err();
    let told = doubted(&mut plain).await;
    assert!(told.contains("declines encryption") && told.contains("sslmode=disable"), "{told}");
    plain.stop().await.unwrap();
    encrypt(&ground, &papers).await;
    let stranger = Papers::issue();
    for trust in [stranger.trusted(), Trust::System] {
        let mut front = proxy(Wire::Postgres, port, trust).await;
        psql(&front, "postgres", "", "SELECT 1").await.unwrap_err();
        let told = doubted(&mut front).await;
        assert!(told.contains("localhost") && told.contains("invalid peer certificate"), "{told}");
        assert!(told.contains("name the file of the authority"), "{told}");
        let counts = until(&front, |counts| counts.open == 0).await;
        assert_eq!((counts.unreached, counts.reset), (1, 1));
        front.stop().await.unwrap();
    }
    let front = proxy(Wire::Postgres, port, Trust::Anyone).await;
    assert_eq!(psql(&front, "postgres", "", IS_ENCRYPTED).await.unwrap(), "t");
    finish(front).await;
    ground.stop().await;
}

/// A Redis that speaks TLS alone; it ends with the test.
struct SecretRedis {
    child: Child,
    port: u16,
}

impl SecretRedis {
    async fn start(papers: &Papers) -> Self {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let mut command = std::process::Command::new("redis-server");
        command.args(["--port", "0", "--bind", "127.0.0.1", "--save", ""]);
        command.args(["--tls-auth-clients", "no", "--tls-port", &port.to_string()]);
        command.arg("--tls-cert-file").arg(papers.certificate());
        command.arg("--tls-ca-cert-file").arg(papers.certificate());
        command.arg("--tls-key-file").arg(papers.key()).stdout(Stdio::null());
        let redis = Self { child: command.spawn().unwrap(), port };
        let listens = async {
            while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(LIMIT, listens).await.unwrap();
        redis
    }
}

impl Drop for SecretRedis {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn redis_is_verified_and_spoken_to_over_tls() {
    let papers = Papers::issue();
    let redis = SecretRedis::start(&papers).await;
    let front = proxy(Wire::Redis, redis.port, papers.trusted()).await;
    let client = Client::open(format!("redis://{}", front.address())).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let large = "x".repeat(5 << 20);
    let mut pipeline = redis::pipe();
    for number in 0..1_000 {
        pipeline.set(number, number).ignore().get(number);
    }
    pipeline.set("large", &large).ignore().get("large");
    let told: Vec<String> = pipeline.query_async(&mut connection).await.unwrap();
    assert!(told.len() == 1_001 && told[999] == "999" && told[1_000] == large);
    drop(connection);
    let counts = finish(front).await;
    assert!(counts.server_bytes > 5 << 20 && counts.frames(Side::Client, "command") >= 2_002);

    let stranger = Papers::issue();
    let mut front = proxy(Wire::Redis, redis.port, stranger.trusted()).await;
    let client = Client::open(format!("redis://{}", front.address())).unwrap();
    assert!(client.get_multiplexed_async_connection().await.is_err());
    let told = doubted(&mut front).await;
    assert!(told.contains("invalid peer certificate"), "{told}");
    front.stop().await.unwrap();
}

#[tokio::test]
async fn an_https_service_is_verified_and_its_end_is_told_from_a_cut() {
    let papers = Papers::issue();
    let key = PrivateKeyDer::from_pem_file(papers.key()).unwrap();
    let certificate = CertificateDer::from_pem_file(papers.certificate()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let front = proxy(Wire::Http, port, papers.trusted()).await;
    let server = tokio::spawn(async move {
        for is_announced in [true, false] {
            let (tcp, _) = listener.accept().await.unwrap();
            let mut stream = acceptor.accept(tcp).await.unwrap();
            stream.read_exact(&mut [0; 18]).await.unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nall of it").await.unwrap();
            stream.flush().await.unwrap();
            if is_announced {
                stream.shutdown().await.unwrap();
            }
        }
    });
    for is_announced in [true, false] {
        let mut client = TcpStream::connect(front.address()).await.unwrap();
        client.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
        let mut told = Vec::new();
        let ended = timeout(LIMIT, client.read_to_end(&mut told)).await.unwrap();
        assert_eq!(ended.is_ok(), is_announced, "{ended:?}");
        assert!(!is_announced || told.ends_with(b"all of it"));
    }
    server.await.unwrap();
    let counts = until(&front, |counts| counts.open == 0).await;
    assert_eq!((counts.links, counts.reset, counts.frames(Side::Server, "2xx")), (2, 1, 2));
    front.stop().await.unwrap();
}
