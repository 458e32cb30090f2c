//! The profile as its users meet it: what is told about mistakes, the profiles that come with the
//! program, their schema, and what is written back.

mod files;
mod mistakes;
mod profiles;
mod properties;
mod schema;

use std::path::Path;

use dupeproof::profile::{Mistakes, Profile, parse};

/// The one variable of the environment that these tests know.
fn env(name: &str) -> Option<String> {
    match name {
        "TOKEN" => Some("s3cret{}".to_owned()),
        "TWO_LINES" => Some("s3cret\nX-Evil: 1".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    }
}

fn read(text: &str) -> Result<Profile, Mistakes> {
    parse(Path::new("profiles/x.toml"), text, &env)
}

/// A phase that is right, for profiles that are about something else.
const PHASE: &str = "[[phase]]\nname = 'p'\nburst.same-key = { users = 2, threads = 2 }\n";

/// A profile that uses every key.
const EVERYTHING: &str = r#"
# Uses every key.
#
#   Indented, with a `"` in it.

title = "All \"keys\" $${NOT_A_VARIABLE}"
seed = 18446744073709551615

[lab]
instances = 3
defects = ["unlock-before-commit", "D24"]
idempotency = "none"
lock-per = "user"
begin = "before-lock-with-read"
isolation = "repeatable-read"
one-order-per = "user"
pool-size = 7
lock-poll = "1500us"
lock-wait = "1m"
lease = "2500ms"

[products]
count = 5
stock = 40

[contract]
preset = "order-strict"
one-order-per = ["user", "product"]
recovery-limit = "24h"
first = [200, 201]
replay = { status = [200], body = "order-id" }
replay-marker = "Idempotent-Replayed"
in-progress = { status = [409], code = ["IN_PROGRESS", "BUSY"], code-at = "/error/code" }
other-parameters = { status = [409, 422] }
missing-key = { status = [400] }
business-rejection = { status = [422], code = ["SOLD_OUT"] }
shed = { status = [429] }
parked = { status = [500] }
hint = "retry-after"

[client]
timeout = "30s"
connect-timeout = "1s"
longest-reply = 5000
retries = { at-most = 0, first-wait = "0s", longest-wait = "0s" }

[request.pay]
put = "/pay/{product}?u={user}&t=${TOKEN}"

[request.pay.headers]
Idempotency-Key = "\"{key}\""
Authorization = "Bearer ${TOKEN}"
X-Literal = "$${A} ${{b}} {{c}} $ \" \\"

[request.pay.body]
"odd key/~" = { deep = [1, -2, 3.5, 1e300, true, { x = "{quantity}", "" = [] }], empty = {} }
text = "\u00e9\n\u007F {uuid} ${TOKEN} }}"

[request.drop]
delete = "/drop/{key}"
order-id = "/a~1b/0"

[audit]
orders = { table = "shop.orders", id = "id", user = "u", key = "k", product = "p", quantity = "q", fingerprint = "f", status = "s", created = "c", sold = ["CREATED", "$${"] }

[[phase]]
name = "ä \\ phase"
burst.same-key = { users = 9, threads = 3, quantity = 2, request = "drop", release = "loop", overlap-share = 0.125 }

[[phase]]
name = "second"
burst.same-key = { users = 100, threads = 500, request = "pay", overlap-share = 1 }

[budget]
p99-latency = "431ms"

[limits]
drain = "5s"
quiet = "1s"

[published]
figure = "none"
"#;
