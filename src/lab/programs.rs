//! Finds `postgres`, `initdb` and `redis-server`.
//!
//! PATH first, then the folders where packages put PostgreSQL without adding it to PATH. initdb
//! and postgres must come from ONE installation (each refuses the other's files otherwise), so
//! links are followed and both are taken from the folder where initdb really is. The variable
//! DUPEPROOF_PATH is searched instead of all that when it is set.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tokio::process::Command;

use super::error::LabError;

const OVERRIDE: &str = "DUPEPROOF_PATH";

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Programs {
    pub(super) initdb: PathBuf,
    pub(super) postgres: PathBuf,
    pub(super) redis: PathBuf,
}

/// The folders to look in, and how to speak of them.
struct Search {
    folders: Vec<PathBuf>,
    name: String,
}

impl Programs {
    /// # Errors
    /// [`LabError::Missing`] names the first program that isn't there, and its package.
    pub(super) async fn find() -> Result<Self, LabError> {
        let (instead, path) = (env::var_os(OVERRIDE), env::var_os("PATH"));
        Search::from_env(instead.as_deref(), path.as_deref()).find().await
    }
}

impl Search {
    fn from_env(instead: Option<&OsStr>, path: Option<&OsStr>) -> Self {
        if let Some(instead) = instead {
            let name = format!("{OVERRIDE} ({})", instead.display());
            return Self { folders: env::split_paths(instead).collect(), name };
        }
        let mut folders: Vec<PathBuf> = path.into_iter().flat_map(env::split_paths).collect();
        folders.extend(entries("/usr/lib/postgresql").map(|version| version.join("bin")));
        folders.extend(
            entries("/usr").filter(|folder| is_pgdg(folder)).map(|folder| folder.join("bin")),
        );
        folders.push("/usr/local/pgsql/bin".into());
        Self { folders, name: "PATH, /usr/lib/postgresql/*/bin or /usr/local/pgsql/bin".to_owned() }
    }

    async fn find(&self) -> Result<Programs, LabError> {
        let bin = self.newest_postgres().await?;
        // Not followed: redis-server is often a link to a program that does what its name says.
        let redis = self.all("redis-server").next();
        Ok(Programs {
            initdb: bin.join("initdb"),
            postgres: bin.join("postgres"),
            redis: redis.ok_or_else(|| self.missing("redis-server", "redis-server"))?,
        })
    }

    /// The folder of the installation with the highest version; the first one among equals.
    async fn newest_postgres(&self) -> Result<PathBuf, LabError> {
        let mut bins: Vec<PathBuf> = Vec::new();
        let followed = |path: PathBuf| path.canonicalize().ok();
        let initdbs: Vec<PathBuf> = self.all("initdb").filter_map(followed).collect();
        for bin in initdbs.iter().filter_map(|initdb| initdb.parent()) {
            if is_program(&bin.join("postgres")) && !bins.iter().any(|known| known == bin) {
                bins.push(bin.to_owned());
            }
        }
        if bins.len() > 1 {
            let mut versions = Vec::new();
            for bin in bins.drain(..) {
                versions.push((version(&bin.join("initdb")).await, bin));
            }
            versions.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
            bins.extend(versions.into_iter().map(|(_, bin)| bin));
        }
        let lacking = if initdbs.is_empty() { "initdb" } else { "postgres" };
        bins.into_iter().next().ok_or_else(|| self.missing(lacking, "postgresql"))
    }

    /// Every program of this name, as an absolute path.
    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = PathBuf> + 'a {
        let candidates = self.folders.iter().map(move |folder| folder.join(name));
        candidates.filter(|path| is_program(path)).filter_map(|path| std::path::absolute(path).ok())
    }

    fn missing(&self, program: &'static str, package: &'static str) -> LabError {
        LabError::Missing { program, package, looked_in: self.name.clone() }
    }
}

fn entries(folder: &str) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// PostgreSQL's own packages for Red Hat and its kin: /usr/pgsql-17/bin.
fn is_pgdg(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with("pgsql-"))
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// One that doesn't run counts as the oldest.
async fn version(initdb: &Path) -> (u32, u32) {
    let output = Command::new(initdb).arg("--version").output().await;
    let said = output.map(|output| output.stdout).unwrap_or_default();
    parse_version(&String::from_utf8_lossy(&said))
}

/// `initdb (PostgreSQL) 15.10 (Debian 15.10-0)` is 15.10, `17beta1` is 17.0, anything else 0.0.
fn parse_version(text: &str) -> (u32, u32) {
    let number =
        text.split_whitespace().find(|word| word.starts_with(|first: char| first.is_ascii_digit()));
    let mut parts = number.unwrap_or_default().split('.').map(|part| {
        let digits = part.split(|character: char| !character.is_ascii_digit()).next();
        digits.unwrap_or_default().parse().unwrap_or(0)
    });
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn program(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("#!/bin/sh\necho '{text}'\n")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn search(folders: &[PathBuf]) -> Search {
        Search::from_env(Some(&env::join_paths(folders).unwrap()), None)
    }

    #[tokio::test]
    async fn the_highest_version_wins_and_its_two_programs_stay_together() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for version in ["9.6", "15.10", "16.2"] {
            program(
                &root.join(version).join("initdb"),
                &format!("initdb (PostgreSQL) {version} (Debian)"),
            );
        }
        for version in ["9.6", "15.10"] {
            program(&root.join(version).join("postgres"), "");
        }
        program(&root.join("bin/redis-server"), "");
        symlink(root.join("15.10/initdb"), root.join("bin/initdb")).unwrap();
        program(&root.join("bin/postgres"), "a wrapper");

        let found =
            search(&[root.join("9.6"), root.join("bin"), root.join("16.2")]).find().await.unwrap();
        assert_eq!(found.initdb, root.join("15.10/initdb"));
        assert_eq!(found.postgres, root.join("15.10/postgres"));
        assert_eq!(found.redis, root.join("bin/redis-server"));
    }

    #[tokio::test]
    async fn a_missing_program_is_named_with_its_package() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().to_owned();
        let missing =
            async || search(std::slice::from_ref(&folder)).find().await.unwrap_err().to_string();
        assert!(missing().await.contains("`initdb`"));
        program(&folder.join("initdb"), "");
        assert!(missing().await.contains("`postgres`"));
        assert!(missing().await.contains("apt-get install postgresql"));
        program(&folder.join("postgres"), "");
        assert!(missing().await.contains("apt-get install redis-server"));
    }

    #[test]
    fn versions_are_read_from_what_initdb_says() {
        assert_eq!(parse_version("initdb (PostgreSQL) 15.10 (Debian 15.10-0+deb12u1)"), (15, 10));
        assert_eq!(parse_version("initdb (PostgreSQL) 17beta1"), (17, 0));
        assert_eq!(parse_version("no such thing"), (0, 0));
    }
}
