//! `dupeproof lab`: the whole lab, kept up until Ctrl-C.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;

use super::{defects, failure, interrupt::Interrupts};
use crate::codes;
use crate::drill;
use crate::guard::Guard;
use crate::lab::{Lab, LabEvent, LabSpec, PaymentsSpec};
use crate::ui::{self, Exit, Failure};

/// The first product on sale, and how many there are.
const FIRST_PRODUCT: i64 = 1_001;
const PRODUCTS: i64 = 12;
const STOCK: i32 = 10_000;
/// Of each instance, as the shop has it by itself.
const POOL_SIZE: u32 = 20;

#[derive(Debug, Args)]
pub(crate) struct LabArgs {
    /// Instances of the shop
    #[arg(long, value_name = "N", default_value_t = 2)]
    instances: u16,

    /// Defects of the shop to switch on, separated by commas
    #[arg(long, value_name = "DEFECTS", value_delimiter = ',')]
    defects: Vec<String>,

    /// A payment provider too, which the shop pays through
    #[arg(long)]
    payments: bool,

    /// Where the servers write their logs
    #[arg(long, value_name = "FOLDER", default_value = "results/lab-logs")]
    logs: PathBuf,
}

pub(crate) async fn lab(args: LabArgs, interrupts: &Interrupts) -> Result<Exit, Failure> {
    // The tables are the shop's: without an instance there are none to fill.
    let products = if args.instances == 0 { 0 } else { PRODUCTS };
    let spec = LabSpec {
        instances: args.instances,
        defects: defects::known(&args.defects)?,
        postgres_settings: vec![drill::most_connections(args.instances, POOL_SIZE)],
        payments: args.payments.then(PaymentsSpec::default),
        products: (FIRST_PRODUCT..FIRST_PRODUCT + products).map(|id| (id, STOCK)).collect(),
        ..LabSpec::new(args.logs)
    };
    defects::fit(&spec.defects, spec.shop_flags.clone(), spec.payments.is_some())?;
    let exe = std::env::current_exe().map_err(|source| failure::own_file(&source))?;
    let guarded = |error| Failure::trouble(&codes::E08, &error);
    let guard = Guard::start(&exe).await.map_err(guarded)?;
    let kept = keep(spec, &guard, interrupts).await;
    guard.finish().await.map_err(guarded)?;
    kept
}

async fn keep(spec: LabSpec, guard: &Guard, interrupts: &Interrupts) -> Result<Exit, Failure> {
    let mut lab = tokio::select! {
        lab = Lab::start(spec, guard) => lab.map_err(|error| failure::of_lab(&error))?,
        () = interrupts.stop().cancelled() => return Ok(Exit::Passed),
    };
    ui::result(&about(&lab));
    ui::note("Ctrl-C ends all of it.");
    let mut events = lab.events().expect("nobody else has taken them");
    let ended = tokio::select! {
        Some(event) = events.recv() => Some(event),
        () = interrupts.stop().cancelled() => None,
    };
    lab.stop().await.map_err(|error| failure::of_lab(&error))?;
    match ended {
        None => Ok(Exit::Passed),
        Some(LabEvent::Exited { what, status, log_tail }) => Err(Failure {
            exit: Exit::Environment,
            code: Some(&codes::E03),
            ..Failure::usage(
                format!("{what} ended ({status}), and the lab with it"),
                "Read the end of its log, then start the lab again.",
            )
        }
        .with_note(format!("the end of its log:\n{log_tail}"))),
    }
}

fn about(lab: &Lab) -> String {
    let mut out = String::new();
    for instance in &lab.instances {
        let _ = writeln!(out, "{:<9} http://{}", instance.name, instance.address);
    }
    let _ = writeln!(out, "{:<9} {}", "postgres", lab.postgres_url);
    let _ = writeln!(out, "{:<9} {}", "redis", lab.redis_url);
    if let Some(payments) = &lab.payments {
        let _ = writeln!(out, "{:<9} {}", "payments", payments.url());
        let _ = writeln!(
            out,
            "{:<9} curl http://{}/next -d '{{\"count\": 1, \"do\": \"drop-after\"}}'",
            "control", payments.control
        );
    }
    if let Some(instance) = lab.instances.first() {
        let last = FIRST_PRODUCT + PRODUCTS - 1;
        let _ = writeln!(out, "{:<9} {FIRST_PRODUCT} to {last}, {STOCK} of each", "products");
        let _ = writeln!(
            out,
            "try       curl -i http://{}/orders -H 'Idempotency-Key: k1' -H 'X-User-Id: u1' \\\n\
             \x20              -H 'Content-Type: application/json' -d '{{\"productId\": {FIRST_PRODUCT}, \"quantity\": 1}}'",
            instance.address
        );
    }
    out
}
