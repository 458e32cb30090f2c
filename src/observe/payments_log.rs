//! What a payment provider has recorded: its requests and effects, from the log that it writes.

use std::path::Path;

use super::ObserveError;
use crate::history::PaymentLine;

/// Reads all whole lines; the provider may be writing the last one.
pub fn payments(path: &Path) -> Result<Vec<PaymentLine>, ObserveError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| ObserveError::PaymentsLog { path: path.to_owned(), source })?;
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let lines = whole.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    let read = |(text, line): (&str, usize)| {
        serde_json::from_str(text).map_err(|source| ObserveError::PaymentsLine {
            path: path.to_owned(),
            line,
            source,
        })
    };
    lines.map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::PaymentEvent;

    #[test]
    fn whole_lines_are_read_and_a_strange_one_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("payments.jsonl");
        let charge =
            r#"{"at_us":7,"event":"charge","id":"17:pay","order":"17","user":"u","amount":1250}"#;
        std::fs::write(&path, format!("{charge}\n{{\"at_us\":8,")).unwrap();
        let lines = payments(&path).unwrap();
        assert_eq!(lines.len(), 1);
        assert_eq!((lines[0].event, lines[0].order.as_deref()), (PaymentEvent::Charge, Some("17")));
        std::fs::write(&path, format!("{charge}\nlistening\n")).unwrap();
        let error = payments(&path).unwrap_err();
        assert!(matches!(error, ObserveError::PaymentsLine { line: 2, .. }), "{error}");
    }
}
