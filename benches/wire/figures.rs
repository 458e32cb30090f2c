//! Medians, quartiles, and figures as text.

use crate::cases::Run;
use crate::peers::NAMES;

/// The value below which this share of the values lies.
pub fn quantile(values: impl Iterator<Item = f64>, share: f64) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let place = ((values.len() - 1) as f64 * share).round() as usize;
    values[place]
}

pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    quantile(values, 0.5)
}

/// One round of a case: exchanges a second, and CPU.
pub fn line(found: &[Run; 3]) -> String {
    let of = |(run, name): (&Run, &str)| {
        format!("{name} {:>9} /s {:>5.2} s", thousands(run.per_second), run.cpu())
    };
    found.iter().zip(NAMES).map(of).collect::<Vec<_>>().join("   ")
}

/// `28,529`.
pub fn thousands(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
