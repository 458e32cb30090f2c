//! Evidence as CSV (RFC 4180), all rows.

use crate::audit::Evidence;

/// The table with its header line.
pub fn csv(evidence: &Evidence) -> String {
    let line = |cells: &[String]| {
        cells.iter().map(|cell| field(cell)).collect::<Vec<_>>().join(",") + "\r\n"
    };
    std::iter::once(&evidence.columns).chain(&evidence.rows).map(|cells| line(cells)).collect()
}

fn field(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_quotes_and_line_ends_survive() {
        let evidence = Evidence {
            columns: vec!["user".to_owned(), "order ids".to_owned()],
            rows: vec![
                vec!["u-1".to_owned(), "1417, 1423".to_owned()],
                vec!["a\"b".to_owned(), String::new()],
            ],
        };
        assert_eq!(csv(&evidence), "user,order ids\r\nu-1,\"1417, 1423\"\r\n\"a\"\"b\",\r\n");
    }
}
