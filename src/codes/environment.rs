//! Troubles of the environment (E..): the drill couldn't be carried out as planned.

use super::Code;

/// All of them.
pub static TROUBLES: [&Code; 11] =
    [&E01, &E02, &E03, &E04, &E05, &E06, &E07, &E08, &E09, &E10, &E11];

/// A program that the lab needs is missing.
pub static E01: Code = Code {
    id: "E01",
    slug: "program-missing",
    title: "a program is missing",
    severity: None,
    what: "The lab runs PostgreSQL and Redis of its own and found no program to start them with.",
    checked: "PATH and the usual package folders are searched; the highest version wins.",
    causes: &["the server packages aren't installed", "they live in a folder outside PATH"],
    cure: "Install the packages (apt-get install postgresql redis-server), or add their folder to \
           PATH.",
};

/// The lab didn't come up.
pub static E02: Code = Code {
    id: "E02",
    slug: "lab-not-ready",
    title: "the lab did not come up",
    severity: None,
    what: "A server of the lab didn't start, or wasn't ready in time.",
    checked: "Each server must answer and must own the port that it was given.",
    causes: &[
        "an unknown defect or setting",
        "no space in the temporary folder",
        "a machine under heavy load",
    ],
    cure: "Read the end of the server's log in the message; free space or set TMPDIR.",
};

/// A server of the lab died.
pub static E03: Code = Code {
    id: "E03",
    slug: "lab-server-died",
    title: "a server of the lab died",
    severity: None,
    what: "PostgreSQL or Redis of the lab ended in the middle of the drill, so nothing that came \
           after can be judged.",
    checked: "The lab waits for its processes and is told at once when one ends.",
    causes: &["the system ran out of memory", "somebody ended the process"],
    cure: "Look at logs/ in the results folder, then run the drill again; what was recorded is kept.",
};

/// The results folder can't be written.
pub static E04: Code = Code {
    id: "E04",
    slug: "results-not-writable",
    title: "the results can't be written",
    severity: None,
    what: "A drill writes what happens as it goes; without a place to write there is no evidence.",
    checked: "The folder is created and the journal opened before anything else; every write is \
              checked.",
    causes: &["the disk is full", "the folder is read-only or belongs to somebody else"],
    cure: "Free space, or name another folder with --results; what was written is kept.",
};

/// The audited database can't be read.
pub static E05: Code = Code {
    id: "E05",
    slug: "database-not-readable",
    title: "the audited database can't be read",
    severity: None,
    what: "The verdict rests on rows that couldn't be read.",
    checked: "The audit reads in one REPEATABLE READ READ ONLY transaction.",
    causes: &["the database is down", "a table or column of [audit] doesn't exist"],
    cure: "Compare [audit] in the profile with the schema, and see that the database answers.",
};

/// The target can't be reached.
pub static E06: Code = Code {
    id: "E06",
    slug: "target-not-reachable",
    title: "the target can't be reached",
    severity: None,
    what: "An instance of the target doesn't take requests, or never became ready.",
    checked: "Before the baseline every instance must answer 2xx on its `ready` path within a limit. \
              A launched one must also hold the port that it was given: the listener is looked up \
              in /proc and must be its process or one that came of it.",
    causes: &[
        "the service isn't running, or still starts",
        "it listens on another port",
        "its command ended, which its log tells",
        "`ready` names a path that needs a login",
    ],
    cure: "Start the service, or correct `target` in the profile.",
};

/// Too few file descriptors.
pub static E07: Code = Code {
    id: "E07",
    slug: "too-few-open-files",
    title: "too few open files allowed",
    severity: None,
    what: "A burst holds one connection for each of its attempts, on both sides.",
    checked: "The soft limit is raised to the hard one before the start, then compared with the burst.",
    causes: &["a low hard limit in the shell, container or service manager"],
    cure: "Raise the limit (ulimit -n, LimitNOFILE, --ulimit nofile) or make the burst smaller.",
};

/// The guard couldn't start.
pub static E08: Code = Code {
    id: "E08",
    slug: "guard-not-started",
    title: "the guard did not start",
    severity: None,
    what: "A small process of dupeproof's own ends whatever a killed dupeproof leaves behind; \
           nothing is started without it.",
    checked: "The guard is started first and must take its first line.",
    causes: &["no more processes allowed", "the program file was replaced while it ran"],
    cure: "Free processes (ulimit -u), then run the command again.",
};

/// A results folder can't be judged.
pub static E09: Code = Code {
    id: "E09",
    slug: "run-not-readable",
    title: "a run can't be read",
    severity: None,
    what: "The folder isn't a results folder of this version, or its files are damaged.",
    checked: "The journal, the rows and the profile of a run are read and checked line by line.",
    causes: &["the drill was killed before its end", "a file was edited or copied in part"],
    cure: "Name the folder of a finished run, such as results/latest, or run the drill again.",
};

/// A statement of the user's failed.
pub static E10: Code = Code {
    id: "E10",
    slug: "statement-failed",
    title: "a setup or teardown statement failed",
    severity: None,
    what: "A statement of `[setup]` or `[teardown]` was refused by the database; those after it were \
           not run.",
    checked: "They run in order: setup before the baseline, teardown at the very end, also after a \
              drill that failed.",
    causes: &[
        "a table that isn't there yet, or is there already",
        "rows of an earlier run that refer to what is deleted",
        "a role without the right to change the table",
    ],
    cure: "Correct the statement that the message names; make statements that may run twice (IF NOT \
           EXISTS, ON CONFLICT).",
};

/// A proxy couldn't listen, or ended.
pub static E11: Code = Code {
    id: "E11",
    slug: "proxy-not-started",
    title: "a proxy can't stand between the target and its servers",
    severity: None,
    what: "The target reaches its servers through proxies of dupeproof, and one of them could not \
           listen, or ended by itself.",
    checked: "All proxies listen before an instance is started or the first request leaves.",
    causes: &[
        "another program holds the address that `proxy` names",
        "an address that this machine doesn't have",
        "a dupeproof that runs already with the same profile",
    ],
    cure: "Free the address or name another one, and let the target connect there; in the lab and \
           with `launch`, `proxies = false` does without.",
};
