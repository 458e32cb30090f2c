//! What happened, as facts: ids, intents, attempts, outcomes, and the journal on disk.
//!
//! Everything that a verdict rests on is one of these types, so that a run can be judged again
//! from its folder alone. Facts are written as they happen by a [`Recorder`]; a [`History`] is
//! always what was read back from the disk, also in the run that wrote it.

mod attempt;
mod clock;
mod fact;
mod fault;
mod folder;
mod ids;
mod journal;
mod line;
mod read;
mod rows;
mod secrets;
mod step;
mod strings;
mod survey;

pub use attempt::{Attempt, Body, Cause, Intent, KeyForm, Outcome, Sent, Variant, Waiting};
pub use clock::{Clock, RunTime};
pub use fact::{
    BurstFacts, ClockFacts, Contended, CounterFacts, Doubt, DrainFacts, Exit, Fact, InstanceFacts,
    PhaseFacts, ResumeFacts, RunFacts, SCHEMA_VERSION,
};
pub use fault::{
    FaultEvent, FaultFacts, FaultPlan, FiredStep, Firing, FiringEnd, Proof, StepPoint,
};
pub use folder::{FolderError, Moment, RunFolder};
pub use ids::{
    AttemptId, BodyId, FaultId, InstanceId, IntentId, LinkId, PhaseId, RunId, StatementId,
    VariantId,
};
pub use journal::{JournalError, JournalWriter, Lines, Recorder};
pub use read::{History, ReadError};
pub use rows::{
    Constraint, ConstraintKind, CustomRows, MovementRow, OrderRow, PaymentEvent, PaymentLine,
    RefusedInsert, Snapshot, StockRow,
};
pub use secrets::Secrets;
pub use step::{LinkFacts, Role, Standing, StatementFacts, Step, StepEnd, Wire, WireFacts};
pub use strings::Strings;
pub use survey::{Apart, Below, Doubled, LedgerLine, LedgerSums, Listed, PaidAndClosed, Survey};
