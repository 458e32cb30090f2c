//! The words of a fault's choices, in profiles and output.

use super::{Cut, Expired, Loss, Owned, Passing, Until};

impl Owned {
    pub const ALL: [Self; 3] = [Self::Intent, Self::Product, Self::Anyone];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Intent => "intent",
            Self::Product => "product",
            Self::Anyone => "anyone",
        }
    }
}

impl Until {
    pub const ALL: [Self; 4] = [Self::Others, Self::TakenOver, Self::LeaseOver, Self::Limit];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Others => "others",
            Self::TakenOver => "taken-over",
            Self::LeaseOver => "lease-over",
            Self::Limit => "limit",
        }
    }
}

impl Loss {
    pub const ALL: [Self; 3] = [Self::Close, Self::Reset, Self::Stall];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Close => "close",
            Self::Reset => "reset",
            Self::Stall => "stall",
        }
    }
}

impl Cut {
    pub const ALL: [Self; 2] = [Self::Refuse, Self::BlackHole];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::BlackHole => "black-hole",
        }
    }
}

impl Expired {
    pub const ALL: [Self; 2] = [Self::Lease, Self::Record];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Lease => "lease",
            Self::Record => "record",
        }
    }
}

impl Passing {
    pub const ALL: [Self; 2] = [Self::Delete, Self::Wait];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Delete => "delete",
            Self::Wait => "wait",
        }
    }
}
