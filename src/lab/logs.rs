//! The servers' logs: files that they write themselves, so that no pipe of ours can hold them up.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::error::LabError;

const TAIL_BYTES: i64 = 4096;
const TAIL_LINES: usize = 15;

/// An empty log, to be appended to.
pub(super) fn create(folder: &Path, name: &str) -> Result<(PathBuf, File), LabError> {
    let path = folder.join(format!("{name}.log"));
    let failed = |source| LabError::File { act: "write the log", path: path.clone(), source };
    fs::create_dir_all(folder).map_err(failed)?;
    File::create(&path).map_err(failed)?;
    let file = append(&path)?;
    Ok((path, file))
}

pub(super) fn append(path: &Path) -> Result<File, LabError> {
    let opened = File::options().append(true).open(path);
    opened.map_err(|source| LabError::File { act: "write the log", path: path.to_owned(), source })
}

/// The last lines, indented; it says so when there are none.
pub(super) fn tail(path: &Path) -> String {
    let text = last_bytes(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    if lines.is_empty() {
        return "  (the log is empty)".to_owned();
    }
    let last = &lines[lines.len().saturating_sub(TAIL_LINES)..];
    last.iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

fn last_bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let is_longer = file.metadata()?.len() > TAIL_BYTES.unsigned_abs();
    if is_longer {
        file.seek(SeekFrom::End(-TAIL_BYTES))?;
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_the_last_lines() {
        let folder = tempfile::tempdir().unwrap();
        let (path, _file) = create(folder.path(), "shop-0").unwrap();
        assert_eq!(tail(&path), "  (the log is empty)");
        let lines: Vec<String> = (0..500).map(|n| format!("line {n} of this log")).collect();
        fs::write(&path, lines.join("\n")).unwrap();
        let tail = tail(&path);
        assert_eq!(tail.lines().count(), TAIL_LINES);
        assert!(tail.ends_with("  line 499 of this log"));
    }
}
