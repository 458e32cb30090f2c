//! Inline commands: a line of words, as people type them and probes send them.
//!
//! Words are quoted as Redis reads them (`sdssplitargs`): escapes in double quotes, only `\'` in
//! single ones, and a closing quote must be followed by a space.

/// The words of a line; none where Redis would refuse its quotes.
pub(super) fn words(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut words = Vec::new();
    let mut rest = line;
    loop {
        rest = rest.trim_ascii_start();
        if rest.is_empty() {
            return Some(words);
        }
        let (word, after) = word(rest)?;
        words.push(word);
        rest = after;
    }
}

fn word(mut rest: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut word = Vec::new();
    while let [byte, after @ ..] = rest {
        match byte {
            b'"' | b'\'' => {
                rest = quoted(after, *byte, &mut word)?;
                let ends = rest.first().is_none_or(u8::is_ascii_whitespace);
                return ends.then_some((word, rest));
            }
            byte if byte.is_ascii_whitespace() || *byte == 0 => return Some((word, after)),
            byte => word.push(*byte),
        }
        rest = after;
    }
    Some((word, rest))
}

/// Reads up to the closing quote; what comes behind it.
fn quoted<'a>(mut rest: &'a [u8], quote: u8, word: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        rest = match rest {
            [] => return None,
            [b'\\', b'x', high, low, after @ ..] if quote == b'"' && hex(*high, *low).is_some() => {
                word.extend(hex(*high, *low));
                after
            }
            [b'\\', escaped, after @ ..] if quote == b'"' => {
                word.push(match escaped {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 8,
                    b'a' => 7,
                    other => *other,
                });
                after
            }
            [b'\\', b'\'', after @ ..] if quote == b'\'' => {
                word.push(b'\'');
                after
            }
            [byte, after @ ..] if *byte == quote => return Some(after),
            [byte, after @ ..] => {
                word.push(*byte);
                after
            }
        };
    }
}

fn hex(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(high)? * 16 + digit(low)?)
}

#[cfg(test)]
mod tests {
    use super::words;

    fn texts(line: &str) -> Option<Vec<String>> {
        let words = words(line.as_bytes())?;
        Some(words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect())
    }

    #[test]
    fn words_are_quoted_as_redis_reads_them() {
        assert_eq!(texts("  set  k v\r").unwrap(), ["set", "k", "v"]);
        assert_eq!(texts(r#"set "a b" 'it\'s' "\x41\n""#).unwrap(), ["set", "a b", "it's", "A\n"]);
        assert_eq!(texts(r#"set """#).unwrap(), ["set", ""]);
        assert_eq!(texts(r#"set "open"#), None);
        assert_eq!(texts(r#"set "a"b"#), None);
        assert_eq!(texts("").unwrap(), [""; 0]);
    }
}
