//! What /proc tells only to those who may trace a process: its working directory, its memory.
//!
//! Root without CAP_SYS_PTRACE (as in most containers) may not look into another user's process,
//! but that user may. So where the kernel refuses, a small program looks as that user.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Text of /proc/PID/maps.
pub(super) fn maps(pid: u32) -> io::Result<String> {
    let path = format!("/proc/{pid}/maps");
    match fs::read_to_string(&path) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            let text = as_owner(pid, Command::new("cat").arg(&path))?;
            Ok(String::from_utf8_lossy(&text).into_owned())
        }
        read => read,
    }
}

/// The folder a process works in.
pub(super) fn cwd(pid: u32) -> io::Result<PathBuf> {
    let path = format!("/proc/{pid}/cwd");
    match fs::read_link(&path) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            let text = as_owner(pid, Command::new("readlink").arg("-n").arg(&path))?;
            Ok(OsString::from_vec(text).into())
        }
        read => read,
    }
}

fn as_owner(pid: u32, command: &mut Command) -> io::Result<Vec<u8>> {
    let owner = fs::metadata(format!("/proc/{pid}"))?;
    command.uid(owner.uid()).gid(owner.gid());
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output()?;
    Ok(output.stdout)
}
