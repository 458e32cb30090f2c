//! `dupeproof proxy`: proxies in front of a target's servers, kept up until Ctrl-C, and what they saw.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::mem::discriminant;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::fronts::{self, Front, Fronts};
use super::rules::{Rules, Told};
use super::{Format, interrupt::Interrupts, rule_file};
use crate::codes;
use crate::history::{
    Clock, Fact, JournalWriter, Recorder, RunFacts, RunId, SCHEMA_VERSION, WireFacts,
};
use crate::report::format::{counted, thousands};
use crate::ui::{self, Exit, Failure};
use crate::wire::{Proxies, ProxyEvent, Watch, WireError};

/// Events of a kind that are told; a driver that connects again and again makes thousands.
const MOST_TOLD: u32 = 3;

#[derive(Debug, Args)]
pub(crate) struct ProxyArgs {
    /// A profile of an attached target, whose `proxy` addresses are listened on
    #[arg(conflicts_with_all = ["redis", "postgres", "http", "allow_host", "beyond_loopback"])]
    pub(super) profile: Option<PathBuf>,

    /// The target's Redis, redis:// or rediss://
    #[arg(long, value_name = "URL")]
    pub(super) redis: Option<String>,

    /// The target's PostgreSQL; sslmode in it says how the proxy connects
    #[arg(long, value_name = "URL")]
    pub(super) postgres: Option<String>,

    /// An HTTP service that the target calls
    #[arg(long, value_name = "URL")]
    pub(super) http: Option<String>,

    /// Where the target will find Redis; a free port of 127.0.0.1 when left out
    #[arg(long, value_name = "ADDRESS", requires = "redis")]
    pub(super) listen_redis: Option<SocketAddr>,

    /// The same for PostgreSQL
    #[arg(long, value_name = "ADDRESS", requires = "postgres")]
    pub(super) listen_postgres: Option<SocketAddr>,

    /// The same for the HTTP service
    #[arg(long, value_name = "ADDRESS", requires = "http")]
    pub(super) listen_http: Option<SocketAddr>,

    /// Listen also where other machines reach it: who reaches a proxy reaches the server
    #[arg(long)]
    pub(super) beyond_loopback: bool,

    /// Hosts other than this machine that servers may be on, separated by commas
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    pub(super) allow_host: Vec<String>,

    /// PEM file of the authority that signed the servers' certificates
    #[arg(long, value_name = "FILE")]
    pub(super) ca: Option<PathBuf>,

    /// Break steps by the rules of this file, and tell of each that was broken
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,

    /// Write every step to this file, which must not exist yet
    #[arg(long, value_name = "FILE")]
    steps: Option<PathBuf>,

    /// How to print where to connect
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

pub(crate) async fn proxy(args: ProxyArgs, interrupts: &Interrupts) -> Result<Exit, Failure> {
    let Fronts { fronts, guide, secrets, profile } = fronts::asked_for(&args).await?;
    let faults = match &args.rules {
        Some(path) => rule_file::read(path, &fronts)?,
        None => Vec::new(),
    };
    let clock = Clock::start();
    let journal = match &args.steps {
        Some(path) => Some(
            Recorder::hiding(path, secrets.clone()).map_err(|error| no_journal(path, &error))?,
        ),
        None => None,
    };
    let (recorder, writer) = journal.unzip();
    let specs = fronts.iter().map(|front| front.spec.clone()).collect();
    let watch = Watch { clock, recorder: recorder.clone(), guide };
    let mut proxies = match Proxies::start(specs, watch).await {
        Ok(proxies) => proxies,
        Err(error) => {
            // Nothing has been written to it.
            args.steps.iter().for_each(|path| drop(std::fs::remove_file(path)));
            return Err(failure(&error));
        }
    };
    if let Some(recorder) = &recorder {
        recorder.record(Fact::Run(Box::new(run_facts(clock, profile)))).await;
    }
    let told = Told { clock, format: args.format, secrets, recorder: recorder.clone() };
    let armed = Rules::arm(&mut proxies, faults, told).await;
    let mut rules = armed.map_err(|error| failure(&error))?;
    ui::result(&match args.format {
        Format::Text => in_words(&fronts, proxies.addresses()),
        Format::Json => format!("{}\n", in_json(&fronts, proxies.addresses())),
    });
    ui::note("Ctrl-C ends it, and tells what was seen.");
    tell(&mut proxies, &mut rules, interrupts).await.map_err(|error| failure(&error))?;
    rules.disarm(&proxies).await.map_err(|error| failure(&error))?;
    let seen = proxies.stop().await.map_err(|error| failure(&error))?;
    ui::note(summary(&seen).trim_end());
    if let Some(done) = rules.finish().await {
        ui::note(&done);
    }
    if let Some((recorder, writer)) = recorder.zip(writer) {
        seal(recorder, writer, seen).await?;
    }
    if let Some(path) = &args.steps {
        ui::note(&format!("every step is in {}", path.display()));
    }
    Ok(Exit::Passed)
}

/// Tells what happens on the links and to the rules until the user has had enough.
async fn tell(
    proxies: &mut Proxies,
    rules: &mut Rules,
    interrupts: &Interrupts,
) -> Result<(), WireError> {
    let mut events = proxies.events().expect("nobody else has taken them");
    let mut told: HashMap<_, u32> = HashMap::new();
    loop {
        let event: ProxyEvent = tokio::select! {
            Some(event) = events.recv() => event,
            happened = rules.next() => {
                rules.meet(happened, proxies).await?;
                continue;
            }
            () = interrupts.stop().cancelled() => return Ok(()),
        };
        let count = told.entry(discriminant(&event)).or_default();
        *count += 1;
        match (*count).cmp(&MOST_TOLD) {
            Ordering::Less => ui::note(&event.to_string()),
            Ordering::Equal => {
                ui::note(&format!("{event} (further ones of this kind are only counted)"));
            }
            Ordering::Greater => {}
        }
    }
}

/// One line for each server, as a shell or an .env file takes it.
fn in_words(fronts: &[Front], addresses: &[SocketAddr]) -> String {
    let line = |(front, address): (&Front, &SocketAddr)| {
        let url = front.url.through(*address);
        let url = if url.contains('&') { format!("\"{url}\"") } else { url };
        let upstream = front.url.upstream();
        let tls = if upstream.tls.is_some() { " over TLS" } else { "" };
        let password = match front.url.has_password() {
            true => ", its password left out",
            false => "",
        };
        format!("{}={url}  # in front of {upstream}{tls}{password}\n", front.variable)
    };
    fronts.iter().zip(addresses).map(line).collect()
}

fn in_json(fronts: &[Front], addresses: &[SocketAddr]) -> serde_json::Value {
    let entry = |(front, address): (&Front, &SocketAddr)| {
        let upstream = front.url.upstream();
        let told = json!({
            "variable": front.variable,
            "url": front.url.through(*address),
            "listen": address.to_string(),
            "upstream": upstream.to_string(),
            "tls": upstream.tls.is_some(),
        });
        (front.spec.wire.name().to_owned(), told)
    };
    fronts.iter().zip(addresses).map(entry).collect::<serde_json::Map<_, _>>().into()
}

/// What each wire saw; what there was nothing of is left out.
fn summary(seen: &[WireFacts]) -> String {
    let of = |wire: &WireFacts| {
        let links = counted(wire.links, "connection", "connections");
        let steps = counted(wire.steps, "step", "steps");
        let drivers: u64 = wire.unnamed.values().sum();
        let mut parts = vec![links, steps];
        let mut add = |count: u64, what: &str| {
            if count > 0 {
                parts.push(format!("{} {what}", thousands(count)));
            }
        };
        add(wire.noise, "only kept connections going");
        add(drivers, "could not be named");
        add(wire.unread, "passed unread");
        add(wire.refused, "refused for encryption");
        add(wire.unreached, "without a server");
        add(wire.lost, "not written down");
        let mut out = format!("{:<9} {}\n", wire.wire.name(), parts.join(", "));
        for (driver, count) in &wire.unnamed {
            out.push_str(&format!(
                "{:<9} not named: {} of {driver}\n",
                "",
                counted(*count, "step", "steps")
            ));
        }
        out
    };
    seen.iter().map(of).collect()
}

fn run_facts(clock: Clock, profile: String) -> RunFacts {
    RunFacts {
        schema_version: SCHEMA_VERSION,
        run: RunId::fresh(),
        seed: 0,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        profile,
        started: clock.wall_started(),
        defects: Vec::new(),
        environment: BTreeMap::new(),
    }
}

async fn seal(
    recorder: Recorder,
    writer: JournalWriter,
    seen: Vec<WireFacts>,
) -> Result<(), Failure> {
    for facts in seen {
        recorder.record(Fact::Wire(facts)).await;
    }
    drop(recorder);
    // It waits for the disk.
    let sealed = tokio::task::spawn_blocking(move || writer.seal()).await;
    match sealed {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(Failure::trouble(&codes::E04, &error)),
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

fn no_journal(path: &Path, error: &dyn std::error::Error) -> Failure {
    let cure = match path.exists() {
        true => "Name a file that isn't there yet with --steps; what is there is kept.",
        false => "Name a file in a folder that can be written with --steps.",
    };
    Failure { cure: cure.to_owned(), ..Failure::trouble(&codes::E04, error) }
}

fn failure(error: &WireError) -> Failure {
    let failure = Failure::trouble(&codes::E11, error);
    let (exit, cure) = match error {
        WireError::Listen { wire, .. } => {
            let cure = "Free it, or name another address of this machine with";
            (Exit::Environment, format!("{cure} --listen-{wire} (in a profile: `proxy`)."))
        }
        WireError::Thread { .. } => (Exit::Environment, "Free processes (ulimit -u).".to_owned()),
        WireError::Exposed { .. } => {
            let cure = "Listen on 127.0.0.1, or say that it is meant: --beyond-loopback.";
            (Exit::Usage, cure.to_owned())
        }
        WireError::Certificates { .. } => {
            let cure = "Name the PEM file of the authority that signed the certificate: --ca FILE, \
                        or sslrootcert=FILE in the URL.";
            (Exit::Usage, cure.to_owned())
        }
        WireError::TlsName { .. } => {
            (Exit::Usage, "Name the server as its certificate does.".to_owned())
        }
        WireError::Ended | WireError::Panicked { .. } => {
            (Exit::Bug, "Please report it with the command that led to it.".to_owned())
        }
    };
    let code = if exit == Exit::Environment { failure.code } else { None };
    Failure { exit, cure, code, ..failure }
}
