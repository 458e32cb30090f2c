//! "Did you mean": the one of several names that was probably meant.

/// The nearest candidate, if it is near enough to be worth a suggestion.
pub fn closest<'a>(
    written: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let plain = kebab(written);
    let allowed = (plain.chars().count() / 3).clamp(1, 4);
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&plain, &kebab(candidate)), candidate))
        .filter(|(distance, candidate)| *distance <= allowed && *distance < candidate.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// `poolSize`, `pool_size` and `POOL-SIZE` are `pool-size`.
fn kebab(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut after_small = false;
    for c in name.chars().take(64) {
        if c.is_uppercase() && after_small {
            out.push('-');
        }
        after_small = c.is_lowercase() || c.is_numeric();
        out.extend(if matches!(c, '_' | ' ') { '-' } else { c }.to_lowercase());
    }
    out
}

/// `a`, `b` and `c`.
pub fn listed<'a>(words: impl IntoIterator<Item = &'a str>, last: &str) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    match words.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [before @ .., end] => format!("{} {last} {end}", before.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_and_other_spellings_are_recognised() {
        let keys = ["pool-size", "lock-poll", "lock-wait", "lease", "instances", "name"];
        for (written, meant) in [
            ("pool_size", "pool-size"),
            ("poolSize", "pool-size"),
            ("lock-pol", "lock-poll"),
            ("Lease", "lease"),
            ("instance", "instances"),
            ("nmae", "name"),
        ] {
            assert_eq!(closest(written, keys), Some(meant), "{written}");
        }
        for written in ["", "x", "defects", "timeout"] {
            assert_eq!(closest(written, keys), None, "{written}");
        }
    }

    #[test]
    fn words_are_listed_as_in_a_sentence() {
        assert_eq!(listed(["a", "b", "c"], "or"), "`a`, `b` or `c`");
        assert_eq!(listed(["a"], "or"), "`a`");
    }
}
