//! Shared memory outlives its processes: which of it belongs to a PostgreSQL, and its removal.
//!
//! Two kinds, see "Managing Kernel Resources" in PostgreSQL's manual: one small System V segment
//! per cluster, and files in /dev/shm (from initdb, and where the setting is `posix`). Which ones
//! is known only while the processes live: from the maps of their memory, and from line 7 of
//! postmaster.pid. System V segments are removed by the program `ipcrm` of util-linux, because the
//! system call is beyond safe Rust.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::peek;
use super::process::Process;

#[derive(Debug, Default)]
pub(super) struct SharedMemory {
    segments: BTreeSet<u32>,
    files: BTreeSet<PathBuf>,
}

/// A line of /proc/sysvipc/shm.
struct Segment {
    id: u32,
    attached: u32,
    owner: u32,
}

impl SharedMemory {
    /// What the processes hold and what the clusters in the folders have noted.
    pub(super) fn of(processes: &[Process], folders: &[PathBuf]) -> Self {
        let mut memory = Self::default();
        for process in processes {
            let pid = process.id().pid;
            memory.add_maps(&peek::maps(pid).unwrap_or_default());
            memory.add_open_files(pid);
        }
        for folder in folders {
            memory.segments.extend(noted_segments(folder));
        }
        memory
    }

    /// Removes it; true when nothing is left. A segment that somebody is attached to stays.
    pub(super) fn remove(&self) -> bool {
        for file in &self.files {
            // Missing is fine; anything else shows in what is left.
            let _ = fs::remove_file(file);
        }
        for segment in self.living_segments() {
            if segment.attached == 0 {
                remove_segment(&segment);
            }
        }
        self.left().is_empty()
    }

    pub(super) fn left(&self) -> Vec<String> {
        let segments = self.living_segments().into_iter();
        let segments = segments.map(|segment| format!("System V segment {}", segment.id));
        let files = self.files.iter().filter(|file| file.exists());
        segments.chain(files.map(|file| file.display().to_string())).collect()
    }

    fn living_segments(&self) -> Vec<Segment> {
        if self.segments.is_empty() {
            return Vec::new();
        }
        let table = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
        let rows = table.lines().filter_map(parse_segment);
        rows.filter(|segment| self.segments.contains(&segment.id)).collect()
    }

    /// Lines of proc_pid_maps(5): address, permissions, offset, device, inode, path. The inode of
    /// a System V segment is its id.
    fn add_maps(&mut self, maps: &str) {
        for line in maps.lines() {
            let mut fields = line.split_ascii_whitespace().skip(4);
            let (Some(inode), Some(path)) = (fields.next(), fields.next()) else {
                continue;
            };
            if path.starts_with("/SYSV") {
                self.segments.extend(inode.parse::<u32>());
            }
            self.add_file(Path::new(path));
        }
    }

    /// Between its creation and its mapping a file is only open.
    fn add_open_files(&mut self, pid: u32) {
        let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else {
            return;
        };
        for entry in entries.flatten() {
            if let Ok(target) = fs::read_link(entry.path()) {
                self.add_file(&target);
            }
        }
    }

    fn add_file(&mut self, path: &Path) {
        let name = path.strip_prefix("/dev/shm").ok().and_then(Path::to_str);
        let number = name.and_then(|name| name.strip_prefix("PostgreSQL."));
        if number.is_some_and(|number| number.parse::<u64>().is_ok()) {
            self.files.insert(path.to_owned());
        }
    }
}

/// Ids from the postmaster.pid of the clusters in this folder: line 7 holds key and id.
fn noted_segments(folder: &Path) -> Vec<u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let text = fs::read_to_string(entry.path().join("postmaster.pid")).ok()?;
            text.lines().nth(6)?.split_ascii_whitespace().nth(1)?.parse().ok()
        })
        .collect()
}

/// Columns: key shmid perms size cpid lpid nattch uid ...
fn parse_segment(row: &str) -> Option<Segment> {
    let fields: Vec<&str> = row.split_ascii_whitespace().collect();
    Some(Segment {
        id: fields.get(1)?.parse().ok()?,
        attached: fields.get(6)?.parse().ok()?,
        owner: fields.get(7)?.parse().ok()?,
    })
}

/// As root it acts as the segment's owner: removing another user's needs CAP_SYS_ADMIN.
fn remove_segment(segment: &Segment) {
    let mut ipcrm = Command::new("ipcrm");
    ipcrm.args(["-m", &segment.id.to_string()]);
    if rustix::process::geteuid().is_root() {
        ipcrm.uid(segment.owner);
    }
    ipcrm.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Whether it worked is seen in the kernel's table, not in what the program says.
    let _ = ipcrm.status();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_tell_segments_by_inode_and_files_by_name() {
        let mut memory = SharedMemory::default();
        memory.add_maps(
            "7f1c0000-7f1c1000 rw-s 00000000 00:01 32801    /SYSV0052e2c1 (deleted)\n\
             7f1c2000-7f1c9000 rw-s 00000000 00:19 77       /dev/shm/PostgreSQL.3406185402\n\
             7f1ca000-7f1cb000 rw-s 00000000 00:19 78       /dev/shm/PostgreSQL.x\n\
             7f1cc000-7f1cd000 rw-s 00000000 00:19 79       /dev/shm/others\n\
             7f1ce000-7f1cf000 rw-p 00000000 00:00 0\n",
        );
        assert_eq!(memory.segments, BTreeSet::from([32801]));
        assert_eq!(memory.files, BTreeSet::from([PathBuf::from("/dev/shm/PostgreSQL.3406185402")]));
    }

    #[test]
    fn a_cluster_notes_its_segment_in_line_seven() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        fs::create_dir(&data).unwrap();
        let text = "77\n/data\n1700000000\n5432\n\n127.0.0.1\n  5432001     32801\nready   \n";
        fs::write(data.join("postmaster.pid"), text).unwrap();
        assert_eq!(noted_segments(folder.path()), [32801]);
    }
}
