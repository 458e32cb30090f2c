//! Whatever is typed, there is a profile or there is a mistake with a place.

use dupeproof::profile::{LONGEST_PROFILE, Profile};
use proptest::prelude::*;

use crate::schema::complaints;
use crate::{EVERYTHING, PHASE, env, read};

/// Either a profile, or mistakes that can be shown.
fn holds(text: &str) -> Result<(), TestCaseError> {
    match read(text) {
        Ok(profile) => reads_back(&profile),
        Err(mistakes) => {
            prop_assert!(!mistakes.list.is_empty());
            for mistake in &mistakes.list {
                prop_assert!(text.get(mistake.span.clone()).is_some(), "{mistake:?}");
                prop_assert!(!mistake.what.is_empty() && !mistake.label.is_empty(), "{mistake:?}");
                prop_assert!(!mistake.help.is_empty(), "{mistake:?}");
            }
            let told = mistakes.render(false);
            prop_assert!(!told.contains("s3cret"), "{told}");
            prop_assert!(told.lines().last() == Some(&*mistakes.to_string()));
            Ok(())
        }
    }
}

fn reads_back(profile: &Profile) -> Result<(), TestCaseError> {
    let written = profile.to_toml();
    prop_assert!(!written.contains("s3cret"), "{written}");
    match read(&written) {
        Ok(again) => prop_assert_eq!(&again, profile),
        Err(mistakes) => prop_assert!(false, "{}\n{written}", mistakes.render(false)),
    }
    Ok(())
}

/// A change of a text: at a place, so many characters give way to something else.
fn change() -> impl Strategy<Value = (prop::sample::Index, usize, String)> {
    let inserted = prop_oneof![
        3 => "[ -~]{0,3}",
        2 => "[\\[\\]{}=\"'$,.#\\\\\n]{1,3}",
        1 => "\\PC{0,4}",
        1 => prop::sample::select(vec![
            "${TOKEN}", "${TWO_LINES}", "$${", "{usr}", "\"\"\"", "'''", "\r\n", "\u{feff}", "\t",
            "[[phase]]\n", "1e999", "-1", "1979-05-27", "true", "{ }", "[ ]", "\\u0000", "999999999999999999999",
        ]).prop_map(str::to_owned),
    ];
    (any::<prop::sample::Index>(), 0_usize..12, inserted)
}

/// A text that may stand in a profile.
fn text() -> impl Strategy<Value = String> {
    "\\PC{0,12}[!-~]\\PC{0,12}"
}

/// TOML of a text.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007F")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_good_profile_with_random_changes_is_read_or_refused(
        changes in prop::collection::vec(change(), 1..4)
    ) {
        let mut text: Vec<char> = EVERYTHING.chars().collect();
        for (at, removed, inserted) in changes {
            let at = at.index(text.len() + 1);
            let end = (at + removed).min(text.len());
            text.splice(at..end, inserted.chars());
        }
        holds(&text.into_iter().collect::<String>())?;
    }

    #[test]
    fn any_value_for_any_key_is_read_or_refused(
        line in prop::sample::Index::arbitrary().boxed(),
        value in prop::sample::select(vec![
            "1", "-1", "0.5", "nan", "''", "'x'", "'1s'", "'/x'", "[]", "['a']", "[1, 1]", "{}",
            "{ a = 1 }", "true", "1979-05-27", "18446744073709551616", "'${TOKEN}'", "'{key}'",
        ])
    ) {
        let mut lines: Vec<String> = EVERYTHING.lines().map(str::to_owned).collect();
        let at = line.index(lines.len());
        if let Some((key, _)) = lines[at].split_once(" = ") {
            lines[at] = format!("{key} = {value}");
        }
        holds(&lines.join("\n"))?;
    }

    #[test]
    fn the_schema_and_the_check_want_the_same_of_texts(
        key in prop::sample::select(vec![
            "title", "lab.defects", "published.figure", "audit.stock.table",
            "audit.stock.product", "contract.replay-marker", "request.place.order-id",
            "request.place.post", "request.place.headers.A",
        ]),
        text in "([ -#%-z|~]{0,6}|[a-z/][a-z0-9_~./-]{0,6}|[a-zäD0-9 \n-]{1,4})",
    ) {
        let value = quoted(&text);
        let value = if key == "lab.defects" { format!("[{value}]") } else { value };
        let others = match key {
            "audit.stock.table" => "audit.stock.product = 'p'\naudit.stock.available = 'a'",
            "audit.stock.product" => "audit.stock.table = 't'\naudit.stock.available = 'a'",
            "request.place.post" => "request.place.headers.K = '{key}'",
            "request.place.order-id" | "request.place.headers.A" => "request.place.post = '/{key}'",
            _ => "",
        };
        let profile = format!("{key} = {value}\n{others}\n{PHASE}");
        let said = complaints(&profile);
        match read(&profile) {
            Ok(_) => prop_assert!(said.is_empty(), "{profile}\n{said:?}"),
            Err(mistakes) => prop_assert!(!said.is_empty(), "{}", mistakes.render(false)),
        }
    }

    #[test]
    fn anything_at_all_is_read_or_refused(text in "\\PC{0,80}") {
        holds(&text)?;
    }

    #[test]
    fn what_is_written_reads_as_the_same_profile(
        (title, name, header, field) in (text(), text(), "[ -z|~]{0,20}", text()),
        (seed, users, millis, share) in (any::<u64>(), 1_u32..5_000, 1_u64..10_000_000, 0.0..=1.0_f64),
    ) {
        let escaped = |text: &str| text.replace('{', "{{").replace('}', "}}");
        let profile = format!(
            "title = {}\nseed = {seed}\nclient.timeout = \"{millis}ms\"\n\
             [request.place]\npost = \"/orders\"\n\
             headers = {{ Idempotency-Key = \"{{key}}\", A = {}, B = \"${{TOKEN}}\" }}\n\
             body = {{ {} = {}, \"a name that is longer than all the others\" = [{share:?}, {seed_half}] }}\n\
             [[phase]]\nname = {}\n\
             burst.same-key = {{ users = {users}, threads = 2, overlap-share = {share:?} }}\n",
            quoted(&title.replace("${", "$${")),
            quoted(&escaped(&header)),
            quoted(&field),
            quoted(&escaped(&field)),
            quoted(&name.replace("${", "$${")),
            seed_half = seed / 2,
        );
        match read(&profile) {
            Ok(profile) => reads_back(&profile)?,
            Err(mistakes) => prop_assert!(false, "{}", mistakes.render(false)),
        }
    }
}

#[test]
fn the_tests_have_something_to_keep_secret() {
    assert!(env("TOKEN").unwrap().contains("s3cret") && EVERYTHING.contains("${TOKEN}"));
}

/// Large files that are wrong, or odd, in one way all over: none takes a time that grows with its square.
#[test]
fn a_large_file_is_told_about_within_seconds() {
    let limit = usize::try_from(LONGEST_PROFILE).unwrap() / 4;
    let fill = |head: &str, piece: &str, tail: &str| {
        format!("{head}{}{tail}", piece.repeat((limit - 200) / piece.len()))
    };
    let numbered = |head: &str, piece: &str, tail: &str| {
        let mut text = head.to_owned();
        for number in 0.. {
            if text.len() > limit - 200 {
                break;
            }
            text.push_str(&piece.replace('#', &number.to_string()));
        }
        text + tail
    };
    let request = "[request.place]\npost = '/{key}'\n";
    for text in [
        fill("contract.first = [", "200,", "]"),
        fill("lab.defects = [", "'D01',", "]"),
        fill("title = '", "{x}", "'"),
        fill(&format!("{request}body.a = '"), "{x}", "'"),
        fill(&format!("{request}body.a = \"\"\""), "\\u007B", "\"\"\""),
        fill("", "[[phase]]\n", ""),
        fill("", "[[phase]]\nname = 'a'\nburst.same-key = {users=1,threads=1}\n", ""),
        fill("", "= ", ""),
        fill("", "a\n", ""),
        fill("a = ", "[", ""),
        fill("a = ", "{a=", ""),
        fill("a", ".a", " = 1"),
        fill("a = ", "'", ""),
        fill("a = ", "\"\"\"", ""),
        numbered("", "k# = 1\n", ""),
        numbered(&format!("{request}headers = {{"), "h# = '{key}',", "}"),
        numbered(&format!("{request}body = {{"), "h# = '{key}',", "}"),
        numbered("", "[request.r#]\npost='/{key}'\n", ""),
        numbered("", "[[phase]]\nname='#'\nburst.same-key={users=1,threads=1,request='r#'}\n", ""),
    ] {
        let begun = std::time::Instant::now();
        holds(&text).unwrap_or_else(|error| panic!("{error}"));
        let took = begun.elapsed();
        assert!(took.as_secs() < 10, "{took:?} for {}...", &text[..40]);
    }
}
