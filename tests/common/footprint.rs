//! What of ours is there: processes, listening ports, folders, shared memory.
//!
//! Ours is what names our folder in its command line, environment or working directory, and what
//! descends from that; never a name of a program, because other people's servers run here too.
//! What was seen once is remembered, because a child can't be traced to us once its parent is dead.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use dupeproof::guard::ProcessId;

/// Grows with every look.
pub struct Footprint {
    folder: PathBuf,
    processes: BTreeMap<u32, (ProcessId, String)>,
    files: BTreeSet<PathBuf>,
    /// Inodes, because a port may be somebody else's a moment later.
    sockets: BTreeSet<String>,
}

impl Footprint {
    /// Of a lab's own folder, or of the TMPDIR of a program that makes labs.
    pub fn of(folder: &Path) -> Self {
        let folder = folder.canonicalize().expect("the folder is there");
        let (processes, files) = (BTreeMap::new(), BTreeSet::new());
        Self { folder, processes, files, sockets: BTreeSet::new() }
    }

    pub fn look(&mut self) {
        let pids = fs::read_dir("/proc").expect("/proc is there").flatten();
        let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        for pid in pids.filter(|pid| *pid != std::process::id()) {
            let Some(process) = ProcessId::of(pid) else {
                continue;
            };
            let parent = process.stat().map_or(0, |stat| stat.parent);
            let is_child =
                self.processes.get(&parent).is_some_and(|(parent, _)| !parent.has_ended());
            if is_child || self.is_named_by(pid) {
                let name = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                let name = String::from_utf8_lossy(&name).replace('\0', " ");
                self.processes.insert(pid, (process, name));
                self.note_shared_files(pid);
                self.note_sockets(pid);
            }
        }
    }

    /// The process that was seen with this in its command line, and that line.
    pub fn find(&self, words: &str) -> Option<(ProcessId, &str)> {
        let found = self.processes.values().find(|(_, name)| name.contains(words));
        found.map(|(process, name)| (*process, name.as_str()))
    }

    /// Looks, and lists what is there now. Zombies are not there.
    pub fn left(&mut self) -> Result<(), String> {
        self.look();
        let alive = self.processes.values().filter(|(process, _)| !process.has_ended());
        let mut left: Vec<String> =
            alive.map(|(process, name)| format!("{process} {name}")).collect();
        left.extend(self.folders().iter().map(|folder| folder.display().to_string()));
        left.extend(
            self.files.iter().filter(|file| file.exists()).map(|file| file.display().to_string()),
        );
        left.extend(self.segments());
        left.extend(self.listeners());
        if left.is_empty() { Ok(()) } else { Err(left.join("\n")) }
    }

    fn is_named_by(&self, pid: u32) -> bool {
        let folder = self.folder.as_os_str().as_bytes();
        let names = |file: &str| {
            let text = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
            text.windows(folder.len()).any(|window| window == folder)
        };
        let cwd = fs::read_link(format!("/proc/{pid}/cwd"));
        names("cmdline") || names("environ") || cwd.is_ok_and(|cwd| cwd.starts_with(&self.folder))
    }

    fn folders(&self) -> Vec<PathBuf> {
        let is_lab = |path: &Path| {
            path.file_name().unwrap_or_default().as_bytes().starts_with(b"dupeproof-lab-")
        };
        if is_lab(&self.folder) {
            return self.folder.exists().then(|| self.folder.clone()).into_iter().collect();
        }
        let entries = fs::read_dir(&self.folder).expect("the folder is there").flatten();
        entries.map(|entry| entry.path()).filter(|path| is_lab(path)).collect()
    }

    fn note_shared_files(&mut self, pid: u32) {
        let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
        let paths = maps.lines().filter_map(|line| line.split_ascii_whitespace().nth(5));
        self.files.extend(paths.filter(|path| path.starts_with("/dev/shm/")).map(PathBuf::from));
    }

    fn note_sockets(&mut self, pid: u32) {
        let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        let links = descriptors.filter_map(|entry| fs::read_link(entry.path()).ok());
        let inode = |link: PathBuf| {
            let inode = link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?;
            Some(inode.to_owned())
        };
        self.sockets.extend(links.filter_map(inode));
    }

    /// Sockets of ours that still listen. The fields are those of proc_pid_net(5).
    fn listeners(&self) -> Vec<String> {
        const LISTENING: &str = "0A";
        let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(fs::read_to_string);
        let rows = tables.iter().flatten().flat_map(|table| table.lines().skip(1));
        let rows = rows.map(|row| row.split_ascii_whitespace().collect::<Vec<_>>());
        rows.filter(|row| row[3] == LISTENING && self.sockets.contains(row[9]))
            .map(|row| format!("listening socket {}", row[1]))
            .collect()
    }

    /// System V segments that one of our processes has made.
    fn segments(&self) -> Vec<String> {
        let table = fs::read_to_string("/proc/sysvipc/shm").expect("the kernel has System V");
        let rows =
            table.lines().skip(1).map(|row| row.split_ascii_whitespace().collect::<Vec<_>>());
        let ours = |row: &Vec<&str>| {
            row[4].parse().is_ok_and(|creator: u32| self.processes.contains_key(&creator))
        };
        rows.filter(ours).map(|row| format!("System V segment {} of {}", row[1], row[4])).collect()
    }
}
