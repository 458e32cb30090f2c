//! What was ordered for the next charges.
//!
//! Orders are served in turn, each for so many charges, and win over the habits. A charge that is
//! asked for takes its order when its request has arrived whole, so "the next three" are the next
//! three that reach the provider.

use std::{collections::VecDeque, time::Duration};

use serde::{Deserialize, Serialize};

use super::mood::{Meeting, Mood};

/// `{"count": 3, "do": "fail-after"}`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Order {
    pub count: u64,
    pub r#do: Mood,
    /// How long each of them takes, in milliseconds; the mood comes afterwards.
    #[serde(default)]
    pub delay_ms: u64,
}

/// The orders that are left.
#[derive(Debug, Default)]
pub struct Plan {
    orders: VecDeque<Order>,
}

impl Plan {
    pub fn add(&mut self, order: Order) {
        if order.count > 0 {
            self.orders.push_back(order);
        }
    }

    pub fn clear(&mut self) {
        self.orders.clear();
    }

    /// How many charges are spoken for.
    pub fn left(&self) -> u64 {
        self.orders.iter().map(|order| order.count).sum()
    }

    pub fn take(&mut self) -> Option<Meeting> {
        let order = self.orders.front_mut()?;
        let (mood, delay) = (order.r#do, Duration::from_millis(order.delay_ms));
        order.count -= 1;
        if order.count == 0 {
            self.orders.pop_front();
        }
        Some(Meeting { delay, mood: Some(mood) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_served_in_turn_and_used_up() {
        let mut plan = Plan::default();
        let order = |text| serde_json::from_str::<Order>(text).unwrap();
        plan.add(order(r#"{"count":2,"do":"fail-after"}"#));
        plan.add(order(r#"{"count":0,"do":"decline"}"#));
        plan.add(order(r#"{"count":1,"do":"slow","delay-ms":500}"#));
        assert_eq!(plan.left(), 3);
        let moods: Vec<_> = std::iter::from_fn(|| plan.take()).collect();
        assert_eq!(
            moods.iter().map(|it| it.mood).collect::<Vec<_>>(),
            [Some(Mood::FailAfter), Some(Mood::FailAfter), Some(Mood::Slow),]
        );
        assert_eq!(moods[2].delay, Duration::from_millis(500));
    }
}
