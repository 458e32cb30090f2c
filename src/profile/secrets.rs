//! What a profile took from the environment: the values that nobody may read in a result.
//!
//! A value is known as a whole, and by each of its parts that came from `${NAME}`; of a URL also
//! its password, as it is written and as it is meant, because a driver's message has it bare.

use super::body::BodyTemplate;
use super::model::Profile;
use super::target::{Secret, Target};
use super::template::TextTemplate;

impl Profile {
    /// Every secret value, and what stands in its place. Users that exist already are names and not
    /// secrets: the verdict is about them.
    pub fn secrets(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for secret in self.secret_values() {
            found.push((secret.reveal().to_owned(), secret.written().to_owned()));
            found.extend(parts(secret.reveal(), secret.written()));
            for password in passwords(secret.reveal()) {
                found.push((password, "(password)".to_owned()));
            }
        }
        let templates = self.requests.iter().flat_map(|request| {
            let headers = request.headers.iter().map(|(_, value)| value);
            let body = request.body.iter().flat_map(BodyTemplate::texts);
            std::iter::once(&request.path).chain(headers).chain(body)
        });
        for (name, value) in templates.flat_map(TextTemplate::secrets) {
            found.push((value.to_owned(), format!("${{{name}}}")));
        }
        found
    }

    fn secret_values(&self) -> impl Iterator<Item = &Secret> {
        let target: Vec<&Secret> = match &self.target {
            Target::Lab => Vec::new(),
            Target::Attached(attached) => attached.urls.iter().collect(),
            Target::Launched(launched) => launched.env.iter().map(|(_, value)| value).collect(),
        };
        let postgres = self.postgres.iter().map(|postgres| &postgres.url);
        let payments = self.payments.iter().map(|payments| &payments.url);
        let servers = postgres.chain(&self.redis.url).chain(payments);
        target.into_iter().chain(servers).filter(|secret| secret.is_secret())
    }
}

/// What each `${NAME}` of the written form stands for, as far as the text around them tells.
fn parts(value: &str, written: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let (mut value, mut written) = (value, written);
    while let Some((before, rest)) = written.split_once("${") {
        let (Some((name, after)), Some(rest)) = (rest.split_once('}'), value.strip_prefix(before))
        else {
            return found;
        };
        let literal = after.split("${").next().unwrap_or_default();
        let end = match literal {
            "" if after.is_empty() => Some(rest.len()),
            "" => None,
            literal if after == literal => rest.strip_suffix(literal).map(str::len),
            literal => rest.find(literal),
        };
        let Some(end) = end else { return found };
        found.push((rest[..end].to_owned(), format!("${{{name}}}")));
        (value, written) = (&rest[end..], after);
    }
    found
}

/// The password of a URL, encoded and decoded.
fn passwords(url: &str) -> Vec<String> {
    let password = url.split_once("://").and_then(|(_, rest)| {
        let authority = rest.split(['/', '?', '#']).next()?;
        // A password may hold an @ that should have been encoded, so the last one counts.
        let (user, _) = authority.rsplit_once('@')?;
        Some(user.split_once(':')?.1)
    });
    let Some(password) = password else { return Vec::new() };
    let mut decoded = Vec::new();
    let mut bytes = password.bytes();
    while let Some(byte) = bytes.next() {
        let mut ahead = bytes.clone();
        let digits = (byte == b'%').then(|| [ahead.next(), ahead.next()]);
        let code = digits.and_then(|digits| match digits {
            [Some(high), Some(low)] => {
                u8::from_str_radix(std::str::from_utf8(&[high, low]).ok()?, 16).ok()
            }
            _ => None,
        });
        decoded.push(code.unwrap_or(byte));
        if code.is_some() {
            bytes = ahead;
        }
    }
    vec![password.to_owned(), String::from_utf8_lossy(&decoded).into_owned()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_a_value_is_known_by_its_name() {
        let found = parts("postgres://me:pw@db/shop", "postgres://${USER}:${PW}@db/shop");
        let shown = |value: &str, name: &str| (value.to_owned(), format!("${{{name}}}"));
        assert_eq!(found, [shown("me", "USER"), shown("pw", "PW")]);
        assert_eq!(parts("Bearer abc", "Bearer ${T}"), [shown("abc", "T")]);
        assert_eq!(parts("ab", "${A}${B}"), []);
    }

    #[test]
    fn a_password_is_known_as_written_and_as_meant() {
        assert_eq!(passwords("postgres://me:p%40ss@db/shop"), ["p%40ss", "p@ss"]);
        assert_eq!(passwords("postgres://me:p@ss@db/shop")[0], "p@ss");
        assert_eq!(passwords("postgres://me@db/shop"), [""; 0]);
        assert_eq!(passwords("http://db:80/a@b:c"), [""; 0]);
    }
}
