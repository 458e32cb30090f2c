//! Inserts that a unique index refused, counted from the lab's own PostgreSQL log.
//!
//! A service may swallow such a refusal, and rightly so; only the database's log has all of them.
//! PostgreSQL writes a message with its DETAIL line in one piece, so the lines stand together.

use std::path::Path;

use super::ObserveError;
use crate::history::RefusedInsert;

const REFUSAL: &str = "ERROR:  duplicate key value violates unique constraint \"";

/// Reads all refusals from a log.
pub fn refused_inserts(path: &Path) -> Result<Vec<RefusedInsert>, ObserveError> {
    let bytes = std::fs::read(path)
        .map_err(|source| ObserveError::Log { path: path.to_owned(), source })?;
    Ok(parse(&String::from_utf8_lossy(&bytes)))
}

fn parse(log: &str) -> Vec<RefusedInsert> {
    let mut refused = Vec::new();
    let mut lines = log.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((_, rest)) = line.split_once(REFUSAL) else { continue };
        let constraint = rest.trim_end_matches('"').to_owned();
        let detail = lines
            .next_if(|next| next.contains("DETAIL:  "))
            .and_then(|next| next.split_once("DETAIL:  "))
            .map(|(_, detail)| detail.to_owned())
            .unwrap_or_default();
        refused.push(RefusedInsert { constraint, detail });
    }
    refused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_read_with_their_details() {
        let log = "\
2026-11-30 [7] LOG:  database system is ready to accept connections
2026-11-30 [9] ERROR:  duplicate key value violates unique constraint \"orders_user_id_key\"
2026-11-30 [9] DETAIL:  Key (user_id)=(u-1) already exists.
2026-11-30 [9] STATEMENT:  INSERT INTO orders
2026-11-30 [8] ERROR:  duplicate key value violates unique constraint \"orders_user_id_key\"
2026-11-30 [9] ERROR:  deadlock detected
";
        let refused = parse(log);
        assert_eq!(refused.len(), 2);
        assert_eq!(refused[0].constraint, "orders_user_id_key");
        assert_eq!(refused[0].detail, "Key (user_id)=(u-1) already exists.");
        assert_eq!(refused[1].detail, "");
    }
}
