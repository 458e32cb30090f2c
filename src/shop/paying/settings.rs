//! Whom the shop pays through, and how long it leaves a payment unsettled.

use std::time::Duration;

use clap::Args;

use crate::shop::duration;

/// Without a provider a payment is one step of the order and no more.
#[derive(Debug, Clone, Args)]
pub struct PayingSettings {
    /// The payment provider, such as http://127.0.0.1:8090; without one, pay needs nobody
    #[arg(long, value_name = "URL", env = "PAYMENTS_URL", hide_env_values = true)]
    pub payments_url: Option<String>,

    /// How long one request to the provider may take
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = duration::parse_nonzero)]
    pub payment_timeout: Duration,

    /// How often to look for payments that are left unsettled
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = duration::parse_nonzero)]
    pub reconcile_every: Duration,

    /// How long an order may be PAYING before the provider is asked about it
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = duration::parse)]
    pub paying_limit: Duration,
}
