//! What sort of harm a fault does: it makes a step late, or something is lost.

use crate::history::{FiringEnd, Proof, Wire};

use super::{Fault, Shot};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A step took long. Nothing is lost, and whoever is told to wait meanwhile is rightly told so.
    Wait,
    /// Somebody else has the lease. The service's own bounds are what is tried.
    Lease,
    /// A request, a reply, a connection, a server, or what it knew.
    Loss,
}

impl Kind {
    /// By the act's word in profiles.
    pub fn of(act: &str) -> Self {
        match act {
            "hold" | "delay" | "expire" => Self::Wait,
            "take-lease" => Self::Lease,
            _ => Self::Loss,
        }
    }

    /// What a firing came to: a hold whose connection broke, or that kept others from working at all, is
    /// a loss to them.
    pub fn of_firing(self, shot: &Shot<'_>) -> Self {
        let is_broken = matches!(
            shot.end,
            Some((_, FiringEnd::OwnHold | FiringEnd::ClientLeft | FiringEnd::ServerClosed))
        );
        if is_broken { Self::Loss } else { self }
    }
}

/// Whether a proof proves something: that nothing was there to be cut shows nothing.
pub fn is_effect(proof: &Proof) -> bool {
    match proof {
        Proof::ServerAnswered { .. }
        | Proof::ServerNotAsked
        | Proof::RequestForwarded
        | Proof::ServerRolledBack
        | Proof::ClientCutOff
        | Proof::ErrorDelivered { .. } => true,
        Proof::Cut { links, refused } => links + refused > 0,
        Proof::Swapped { links } => *links > 0,
        Proof::KeysGone { keys } | Proof::KeysExpired { keys } | Proof::KeysTaken { keys } => {
            *keys > 0
        }
    }
}

/// Whether a proof is of what an act does, and not only of the step that set it off.
pub fn is_effect_of(act: &str, proof: &Proof) -> bool {
    let is_its = match act {
        "swap-upstream" => matches!(proof, Proof::Swapped { .. }),
        "partition" => matches!(proof, Proof::Cut { .. }),
        "expire" => matches!(proof, Proof::KeysGone { .. } | Proof::KeysExpired { .. }),
        "take-lease" => matches!(proof, Proof::KeysTaken { .. }),
        _ => true,
    };
    is_its && is_effect(proof)
}

/// Whether a fault takes a server away from an instance, or what the server knew.
pub fn is_outage(fault: &Fault<'_>, wire: Wire) -> bool {
    matches!(&*fault.plan.act, "partition" | "black-hole" | "fail" | "swap-upstream")
        && fault.wire() == Some(wire)
}
