//! A results folder: where a run's facts, rows and results lie on disk.
//!
//! Written as the run goes; every file but the journal and the logs comes by an atomic rename, so
//! that a kill or a full disk never leaves half of one. `result.json` is the last: a folder without
//! it is incomplete and a folder with it is whole.

use std::fs::{File, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{RunId, Snapshot, Strings};

/// How much of two files is compared at a time.
const COMPARED_BYTES: usize = 64 * 1024;

/// What can go wrong with a results folder.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error("cannot create the results folder {path}")]
    Create { path: PathBuf, source: std::io::Error },
    #[error("cannot write {path}")]
    Write { path: PathBuf, source: std::io::Error },
    #[error("cannot read {path}")]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{path} holds no rows that this dupeproof can read")]
    Rows { path: PathBuf, source: serde_json::Error },
}

/// Which rows of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Before the first request.
    Baseline,
    /// The load is over and drained, nothing was asked again yet (audit A0).
    BeforeRepair,
    /// Everything is settled (audit A1): what the verdict rests on.
    After,
}

impl Moment {
    const fn file(self) -> &'static str {
        match self {
            Self::Baseline => "rows/baseline.json",
            Self::BeforeRepair => "rows/before-repair.json",
            Self::After => "rows/after.json",
        }
    }
}

/// A results folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Creates `ROOT/2026-11-30T10-31-07Z-NAME-7c1e` with its subfolders.
    pub fn create(
        root: &Path,
        started: jiff::Timestamp,
        name: &str,
        run: RunId,
    ) -> Result<Self, FolderError> {
        let stamp = started.strftime("%Y-%m-%dT%H-%M-%SZ");
        let run = run.to_string();
        let path = root.join(format!("{stamp}-{name}-{}", &run[run.len() - 4..]));
        for sub in ["", "rows", "logs", "evidence", "repro"] {
            let path = path.join(sub);
            std::fs::create_dir_all(&path)
                .map_err(|source| FolderError::Create { path, source })?;
        }
        Ok(Self { path })
    }

    /// A folder that exists already.
    pub fn open(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn journal(&self) -> PathBuf {
        self.path.join("journal.jsonl")
    }

    pub fn profile(&self) -> PathBuf {
        self.path.join("profile.toml")
    }

    pub fn logs(&self) -> PathBuf {
        self.path.join("logs")
    }

    /// Writes a file of the folder, whole or not at all.
    pub fn write(&self, file: &str, text: &str) -> Result<(), FolderError> {
        let path = self.path.join(file);
        let written = write_whole(&path, text);
        written.map(drop).map_err(|source| FolderError::Write { path, source })
    }

    pub fn write_rows(&self, moment: Moment, rows: &Snapshot) -> Result<(), FolderError> {
        self.write(moment.file(), &serde_json::to_string(rows).expect("rows are plain data"))
    }

    /// The rows of a moment; `None` when the run never got there.
    pub fn read_rows(&self, moment: Moment) -> Result<Option<Snapshot>, FolderError> {
        self.read_rows_sharing(moment, &mut Strings::default())
    }

    /// Whether the rows of two moments are the same file, to the byte.
    pub fn has_equal_rows(&self, one: Moment, other: Moment) -> bool {
        let open = |moment: Moment| File::open(self.path.join(moment.file())).ok();
        let (Some(one), Some(other)) = (open(one), open(other)) else { return false };
        let length = |file: &File| file.metadata().map(|about| about.len()).ok();
        if length(&one) != length(&other) {
            return false;
        }
        let mut one = BufReader::with_capacity(COMPARED_BYTES, one);
        let mut other = BufReader::with_capacity(COMPARED_BYTES, other);
        loop {
            let (Ok(left), Ok(right)) = (one.fill_buf(), other.fill_buf()) else { return false };
            let both = left.len().min(right.len());
            if left[..both] != right[..both] {
                return false;
            }
            if both == 0 {
                return left.len() == right.len();
            }
            one.consume(both);
            other.consume(both);
        }
    }

    /// The same, with texts shared with whatever else goes through `strings`.
    pub fn read_rows_sharing(
        &self,
        moment: Moment,
        strings: &mut Strings,
    ) -> Result<Option<Snapshot>, FolderError> {
        let path = self.path.join(moment.file());
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(FolderError::Read { path, source }),
        };
        let rows = serde_json::from_str(&text);
        let mut rows: Snapshot = rows.map_err(|source| FolderError::Rows { path, source })?;
        rows.share(strings);
        Ok(Some(rows))
    }

    /// Writes `result.json`.
    pub fn seal(&self, result: &str) -> Result<(), FolderError> {
        let path = self.path.join("result.json");
        let sealed = write_whole(&path, result).and_then(|file| file.sync_all());
        sealed.map_err(|source| FolderError::Write { path, source })
    }

    /// Points `latest` at this folder. It is replaced by a rename, so that it always points
    /// somewhere; a `latest` that isn't a link is somebody's own and stays.
    pub fn become_latest(&self) -> Result<(), FolderError> {
        let (Some(root), Some(name)) = (self.path.parent(), self.path.file_name()) else {
            return Ok(());
        };
        let latest = root.join("latest");
        let pointed = point(root, &latest, name);
        pointed.map_err(|source| FolderError::Write { path: latest, source })
    }
}

fn point(root: &Path, latest: &Path, name: &std::ffi::OsStr) -> std::io::Result<()> {
    if latest.symlink_metadata().is_ok_and(|there| !there.is_symlink()) {
        return Ok(());
    }
    let fresh = root.join(format!(".latest-{}", std::process::id()));
    let _ = std::fs::remove_file(&fresh);
    std::os::unix::fs::symlink(name, &fresh)?;
    std::fs::rename(fresh, latest)
}

/// Writes beside the path and renames.
fn write_whole(path: &Path, text: &str) -> std::io::Result<File> {
    let folder = path.parent().unwrap_or(Path::new("."));
    // Temporary files are for their owner alone; results are for whoever the umask lets in.
    let mut file =
        tempfile::Builder::new().permissions(Permissions::from_mode(0o666)).tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(root: &Path) -> RunFolder {
        let started = "2026-11-30T10:31:07Z".parse().unwrap();
        RunFolder::create(root, started, "checkout", RunId::from_bits(0x7c1e)).unwrap()
    }

    #[test]
    fn a_folder_is_named_by_time_profile_and_run_and_latest_can_point_at_it() {
        let root = tempfile::tempdir().unwrap();
        let folder = folder(root.path());
        assert!(folder.path().ends_with("2026-11-30T10-31-07Z-checkout-0z0y"));
        assert!(!root.path().join("latest").exists());
        folder.seal("{}").unwrap();
        folder.become_latest().unwrap();
        assert_eq!(std::fs::read_to_string(root.path().join("latest/result.json")).unwrap(), "{}");
    }

    #[test]
    fn rows_survive_being_written_and_read_and_missing_rows_are_none() {
        let root = tempfile::tempdir().unwrap();
        let folder = folder(root.path());
        let rows = Snapshot { schema_version: 1, ..Snapshot::default() };
        folder.write_rows(Moment::After, &rows).unwrap();
        assert_eq!(folder.read_rows(Moment::After).unwrap(), Some(rows));
        assert_eq!(folder.read_rows(Moment::Baseline).unwrap(), None);
        folder.write("rows/before-repair.json", &" ".repeat(COMPARED_BYTES * 2)).unwrap();
        assert!(!folder.has_equal_rows(Moment::After, Moment::BeforeRepair));
        folder.write("rows/after.json", &" ".repeat(COMPARED_BYTES * 2)).unwrap();
        assert!(folder.has_equal_rows(Moment::After, Moment::BeforeRepair));
        folder.write("rows/after.json", &(" ".repeat(COMPARED_BYTES * 2 - 1) + "x")).unwrap();
        assert!(!folder.has_equal_rows(Moment::After, Moment::BeforeRepair));
        folder.write("rows/after.json", "{").unwrap();
        assert!(folder.read_rows(Moment::After).is_err());
    }
}
