//! A lab comes up quickly, next to others, or says why not.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;
use std::time::{Duration, Instant};

use assert_cmd::Command;
use dupeproof::lab::{Lab, LabError, LabSpec};
use sqlx::{Connection, PgConnection};

use crate::backends::ask;
use crate::footprint::Footprint;
use crate::{EXE, guard, until};

pub fn spec(logs: &tempfile::TempDir, instances: u16) -> LabSpec {
    LabSpec { instances, ..LabSpec::new(logs.path().join("logs")) }
}

#[tokio::test]
async fn a_lab_comes_up_and_its_stop_leaves_nothing() {
    let logs = tempfile::tempdir().unwrap();
    let guard = guard().await;
    for _ in 0..3 {
        let lab = Lab::start(spec(&logs, 0), &guard).await.unwrap();
        let mut footprint = Footprint::of(lab.folder());
        assert!(footprint.left().is_err(), "a running lab is seen");
        let (postgres, redis) = (lab.postgres_url.clone(), lab.redis_url.clone());
        assert_eq!(ask(&postgres, "SHOW synchronous_commit").await.unwrap(), "on");
        lab.stop().await.unwrap();
        assert_eq!(footprint.left(), Ok(()));
        assert!(ask(&postgres, "SHOW port").await.is_err());
        assert!(redis::Client::open(redis).unwrap().get_connection().is_err());
    }
    for log in ["postgres.log", "redis.log"] {
        assert!(logs.path().join("logs").join(log).metadata().unwrap().len() > 0, "{log} stays");
    }
    guard.finish().await.unwrap();
}

#[tokio::test]
async fn two_labs_stand_side_by_side_and_never_meet() {
    let logs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let guard = guard().await;
    let (one, two) =
        tokio::join!(Lab::start(spec(&logs[0], 0), &guard), Lab::start(spec(&logs[1], 0), &guard));
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_ne!(one.folder(), two.folder());
    ask(&one.postgres_url, "CREATE TABLE mine (x int); SELECT 'made'").await.unwrap_err();
    let mut connection = PgConnection::connect(&one.postgres_url).await.unwrap();
    sqlx::raw_sql("CREATE TABLE mine (x int)").execute(&mut connection).await.unwrap();
    drop(connection);
    let seen = "SELECT (to_regclass('mine') IS NOT NULL)::text";
    assert_eq!(ask(&one.postgres_url, seen).await.unwrap(), "true");
    assert_eq!(ask(&two.postgres_url, seen).await.unwrap(), "false");

    let mut footprint = Footprint::of(one.folder());
    footprint.look();
    one.stop().await.unwrap();
    assert_eq!(footprint.left(), Ok(()));
    assert_eq!(ask(&two.postgres_url, "SELECT 'still here'").await.unwrap(), "still here");
    two.stop().await.unwrap();
    guard.finish().await.unwrap();
}

#[tokio::test]
async fn a_setting_of_the_owner_wins_but_not_over_where_it_listens() {
    let logs = tempfile::tempdir().unwrap();
    let guard = guard().await;
    let settings = [("fsync", "on"), ("listen_addresses", "*"), ("port", "1")];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let spec = LabSpec { postgres_settings: settings, ..spec(&logs, 0) };
    let lab = Lab::start(spec, &guard).await.unwrap();
    assert_eq!(ask(&lab.postgres_url, "SHOW fsync").await.unwrap(), "on");
    assert_eq!(ask(&lab.postgres_url, "SHOW listen_addresses").await.unwrap(), "127.0.0.1");
    lab.stop().await.unwrap();
    guard.finish().await.unwrap();
}

#[tokio::test]
async fn a_server_that_does_not_come_up_says_why_and_leaves_nothing() {
    let logs = tempfile::tempdir().unwrap();
    let guard = guard().await;
    let settings = vec![("shared_buffers".to_owned(), "plenty".to_owned())];
    let spec = LabSpec { postgres_settings: settings, ..spec(&logs, 0) };
    let begun = Instant::now();
    let error = Lab::start(spec, &guard).await.unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(10), "it ends with the server, not with a limit");
    assert!(matches!(&error, LabError::Died { what, .. } if what == "postgres"), "{error}");
    assert!(error.to_string().contains("shared_buffers"), "{error}");
    guard.finish().await.unwrap();
}

/// Runs `dupeproof lab` where it can't come up.
fn refused(folder: &tempfile::TempDir, path: Option<&std::path::Path>) -> (Output, String) {
    let mut command = Command::new(EXE);
    command.args(["lab", "--instances", "0", "--logs"]).arg(folder.path().join("logs"));
    command.env("TMPDIR", folder.path()).timeout(Duration::from_secs(20));
    if let Some(path) = path {
        command.env("DUPEPROOF_PATH", path);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(4), "{said}");
    (output, said)
}

#[tokio::test]
async fn a_missing_program_is_named_with_its_cure() {
    let empty = tempfile::tempdir().unwrap();
    let (output, said) = refused(&empty, Some(empty.path()));
    assert!(said.contains("`initdb`") && said.contains("apt-get install postgresql"), "{said}");
    assert_eq!(output.stdout, b"");
    let mut footprint = Footprint::of(empty.path());
    until(Duration::from_secs(2), || footprint.left()).await;
}

#[tokio::test]
async fn a_temporary_folder_that_postgres_may_not_enter_is_named() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let closed = tempfile::tempdir().unwrap();
    fs::set_permissions(closed.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let (_, said) = refused(&closed, None);
    assert!(said.contains("TMPDIR") && said.contains(closed.path().to_str().unwrap()), "{said}");
}
