//! The command-line clients of both servers through the proxies: all that they print, and what they leave
//! in the servers, is what it would be directly. `.ci/transparency` asks more of the same of more clients.

use std::path::Path;

use dupeproof::history::Wire;
use tokio::process::Command;

use crate::drivers::{local, postgres_proxy};
use crate::ends::{Proxy, proxy_to, until};
use crate::lab::Ground;

/// Scripts of `tests/clients`, and what they are asked for.
const POSTGRES: &[&[&str]] = &[
    &["psql.sh", "script"],
    &["psql.sh", "cancel"],
    &["pgbench.sh", "1", "100", "simple"],
    &["pgbench.sh", "1", "100", "extended"],
    &["pgbench.sh", "4", "50", "prepared"],
];
const REDIS: &[&[&str]] = &[
    &["redis_tools.sh", "protocol"],
    &["redis_tools.sh", "raw"],
    &["redis_tools.sh", "monitor"],
    &["redis_tools.sh", "subscribe"],
    &["redis_tools.sh", "benchmark", "5000"],
    &["redis_tools.sh", "mass", "20000"],
];

/// Where one way round goes, and where it is looked up what was done.
struct Ports {
    asked: u16,
    direct: u16,
}

async fn output_of(script: &[&str], ports: &Ports) -> String {
    let scratch = tempfile::tempdir().unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients");
    let mut command = Command::new(folder.join(script[0]));
    command.args(&script[1..]).env("SCRATCH", scratch.path()).kill_on_drop(true);
    command.env("PGHOST", "127.0.0.1").env("PGUSER", "postgres").env("PGDATABASE", "scene");
    for (asked, direct) in [("PGPORT", "DIRECT_PGPORT"), ("REDIS_PORT", "DIRECT_REDIS_PORT")] {
        command.env(asked, ports.asked.to_string()).env(direct, ports.direct.to_string());
    }
    let output = command.output().await.unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script:?}: {}: {complaints}", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Either way from the same beginning, which `afresh` makes.
async fn compare(scripts: &[&[&str]], ports: &Ports, afresh: impl AsyncFn()) {
    let directly = Ports { asked: ports.direct, direct: ports.direct };
    for script in scripts {
        afresh().await;
        let expected = output_of(script, &directly).await;
        assert!(!expected.is_empty(), "{script:?} printed nothing");
        afresh().await;
        let through = output_of(script, ports).await;
        assert!(through == expected, "{script:?} differs\n{through}\n--- directly:\n{expected}");
    }
}

async fn ends_well(proxy: Proxy) {
    let counts = until(&proxy, |counts| counts.open == 0).await;
    assert_eq!((counts.opaque, counts.unreached, counts.untold), (0, 0, 0), "{counts:?}");
    proxy.stop().await.unwrap();
}

#[tokio::test]
async fn psql_and_pgbench_print_the_same_as_directly() {
    let ground = Ground::start().await;
    let (proxy, _) = postgres_proxy(&ground).await;
    let ports = Ports { asked: proxy.address().port(), direct: ground.postgres_port() };
    let afresh = async || {
        let mut psql = Command::new("psql");
        psql.args(["-Xq", "-h", "127.0.0.1", "-U", "postgres", "-d", "postgres"]);
        psql.args(["-p", &ports.direct.to_string(), "-c", "DROP DATABASE IF EXISTS scene"]);
        let output = psql.args(["-c", "CREATE DATABASE scene"]).output().await.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    compare(POSTGRES, &ports, afresh).await;
    ends_well(proxy).await;
    ground.stop().await;
}

#[tokio::test]
async fn redis_cli_and_redis_benchmark_print_the_same_as_directly() {
    let ground = Ground::start().await;
    let proxy = proxy_to(Wire::Redis, local(ground.redis_port())).await;
    let ports = Ports { asked: proxy.address().port(), direct: ground.redis_port() };
    let afresh = async || {
        for command in [&["FLUSHALL"][..], &["SCRIPT", "FLUSH"], &["CONFIG", "RESETSTAT"]] {
            let mut cli = Command::new("redis-cli");
            cli.args(["-p", &ports.direct.to_string()]).args(command);
            assert!(cli.output().await.unwrap().status.success());
        }
    };
    compare(REDIS, &ports, afresh).await;
    ends_well(proxy).await;
    ground.stop().await;
}
