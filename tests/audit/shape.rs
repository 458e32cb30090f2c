//! What a simulated drill is like: its size, its troubles, and how its service is wrong.

/// How the service is wrong; each flag is one defect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Defects {
    /// Duplicates are executed again.
    pub second_order: bool,
    /// Replays have a body of their own.
    pub other_body: bool,
    /// Some acknowledged orders are never committed.
    pub lost_order: bool,
    /// The fingerprint is never compared.
    pub no_fingerprint: bool,
    /// Some orders don't take their stock.
    pub stock_kept: bool,
}

/// The shape of a random drill.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub users: u32,
    pub threads: u32,
    pub stock: i64,
    /// Share of attempts that ask for another quantity.
    pub mutated: f64,
    /// Two keys for each user, and one order for each user.
    pub per_user: bool,
    /// How often each kind of trouble strikes an attempt.
    pub trouble: f64,
    pub crash: bool,
}
