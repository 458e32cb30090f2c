//! `dupeproof guarded-exec --kind KIND [--user UID:GID] -- PROGRAM ARGS..`: a child on its way to
//! becoming a server.
//!
//! Its stdin is the guard's pipe. It writes its own line to it, then becomes the program, which
//! keeps pid and start time. So the pipe is open until the guard knows the process, whatever
//! happens to whoever started it. Single-threaded: it is called before any runtime starts. An error
//! belongs on stderr, which is the server's log.

use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use super::command::Account;
use super::error::GuardError;
use super::family;
use super::journal::{Kind, Line};
use super::process::ProcessId;

#[derive(Debug, PartialEq, Eq)]
struct Launch {
    kind: Kind,
    account: Option<Account>,
    program: OsString,
    args: Vec<OsString>,
}

/// Journals this process, then becomes the program. `args` are those after `guarded-exec`.
///
/// # Errors
/// It returns only when it couldn't: an unwritten line, a missing program.
pub fn become_guarded(args: Vec<OsString>) -> Result<Infallible, GuardError> {
    let launch = Launch::parse(&args).ok_or(GuardError::Arguments(args))?;
    let prepared =
        |act, done: io::Result<()>| done.map_err(|source| GuardError::Prepare { act, source });
    // Fails only for a group leader, which has a session of its own then.
    let _ = rustix::process::setsid();
    let own = ProcessId::of(std::process::id()).ok_or_else(|| GuardError::Prepare {
        act: "read its own start time from /proc",
        source: io::ErrorKind::NotFound.into(),
    })?;
    let line = Line::Pid(own, launch.kind);
    let written = rustix::io::write(rustix::stdio::stdin(), &line.to_bytes()?);
    written
        .map_err(|errno| GuardError::Journal { line: line.to_string(), source: errno.into() })?;
    let closed = File::open("/dev/null").and_then(|null| Ok(rustix::stdio::dup2_stdin(null)?));
    prepared("close its end of the journal", closed)?;

    let mut command = Command::new(&launch.program);
    command.args(&launch.args);
    if launch.kind == Kind::Target {
        command.env(family::MARK, family::mark(own));
    }
    if let Some(account) = launch.account {
        // The standard library clears the groups when root changes the user.
        command.gid(account.gid).uid(account.uid);
    }
    let source = command.exec();
    Err(GuardError::Exec { program: launch.program.into(), source })
}

impl Launch {
    fn parse(args: &[OsString]) -> Option<Self> {
        let mut args = args.iter();
        let (mut kind, mut account) = (None, None);
        loop {
            match args.next()?.to_str()? {
                "--kind" => kind = Some(Kind::parse(args.next()?.to_str()?)?),
                "--user" => account = Some(Account::parse(args.next()?.to_str()?)?),
                "--" => break,
                _ => return None,
            }
        }
        Some(Self {
            kind: kind?,
            account,
            program: args.next()?.clone(),
            args: args.map(AsRef::<OsStr>::as_ref).map(OsStr::to_owned).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Option<Launch> {
        Launch::parse(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn the_program_keeps_its_own_flags() {
        let launch = parse("--kind redis --user 101:104 -- /bin/redis --kind x -- y").unwrap();
        assert_eq!(launch.kind, Kind::Redis);
        assert_eq!(launch.account, Some(Account { uid: 101, gid: 104 }));
        assert_eq!(launch.program, "/bin/redis");
        assert_eq!(launch.args, ["--kind", "x", "--", "y"]);
    }

    #[test]
    fn anything_but_its_own_grammar_is_refused() {
        for line in ["--kind nginx -- x", "-- x", "--kind redis", "--kind redis --", "x"] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
