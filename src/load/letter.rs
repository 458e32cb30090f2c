//! What one or many attempts carry: the bytes, and what is known about them.

use std::sync::Arc;

use crate::history::{IntentId, KeyForm, VariantId};

use super::message::Rendered;
use super::session::Session;

/// A request's bytes with what belongs to them.
#[derive(Clone, Debug)]
pub(super) struct Letter {
    pub intent: IntentId,
    /// Place of the request among the profile's; its answers are read by it.
    pub request: usize,
    /// The bytes, where they aren't the intent's original ones.
    pub variant: Option<VariantId>,
    /// For each instance; or why there are none.
    pub rendered: Result<Rendered, String>,
    pub session: Option<Arc<Session>>,
    /// JSON pointer to the token that a success carries in place of an order.
    pub token_at: Option<Arc<str>>,
    pub key_form: KeyForm,
}

impl Letter {
    /// Whether the client may ask again by itself: a request without a usable key, repeated, would
    /// be another request.
    pub const fn may_be_repeated(&self) -> bool {
        self.key_form.is_good()
    }

    /// Whether the resolver may ask again. A token that nobody waits for any more helps nobody.
    pub const fn may_be_resolved(&self) -> bool {
        self.may_be_repeated() && self.token_at.is_none() && self.rendered.is_ok()
    }
}
