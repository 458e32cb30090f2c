//! The profile as its users meet it: what is told about mistakes, the profiles that come with the
//! program, their schema, and what is written back.

mod faults;
mod files;
mod mistakes;
mod profiles;
mod properties;
mod reference;
mod schema;

use std::path::Path;

use dupeproof::profile::{Mistakes, Profile, parse};

/// The one variable of the environment that these tests know.
fn env(name: &str) -> Option<String> {
    match name {
        "TOKEN" => Some("s3cret{}".to_owned()),
        "TWO_LINES" => Some("s3cret\nX-Evil: 1".to_owned()),
        "HOST" => Some("staging.example.com".to_owned()),
        "SECRET_URL" => Some("https://s3cret.example.com".to_owned()),
        "UMLAUT" => Some("Zoë".to_owned()),
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
work-time = "3ms"
order-window = "10s"
proxies = false

[lab.payments]
delay = "20ms"
fail-share = 0.125
fail-after-share = 0.25
drop-share = 0.5
decline-share = 0.0625
shop-timeout = "1500ms"
paying-limit = "0ms"
reconcile-every = "250ms"

[wires.roles]
"redis EVAL take lease" = "lock"
"postgres COMMIT" = "success"

[products]
stock = 400

[contract]
preset = "order-strict"
key = { header = "Idempotency-Key", syntax = "quoted", longest = "unsaid", scope = "account" }
one-order-per = ["user", "product"]
recovery-limit = "24h"
first = [200, 201]
replay = { status = [200], body = "order-id" }
replay-marker = "Idempotent-Replayed"
in-progress = { status = [409], code = ["IN_PROGRESS", "BUSY"], code-at = "/error/code" }
other-parameters = { status = [409, 422], while-in-progress = false }
missing-key = { status = [400] }
malformed-key = "unsaid"
business-rejection = { status = [422], code = ["SOLD_OUT"] }
shed = { status = [429] }
parked = { status = [500] }
hint = "retry-after"
rejection-is-stored = true
after-expiry = "rejected"
window = "1m"
settles-within = "5s"
longest-wait = "2s"

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
headers = { Idempotency-Key = "{key}", X-Token = "{token}" }
body = { n = 1, q = "{quantity}", gift = { wrap = false } }
order-id = "/a~1b/0"
mutate = { "/q" = [7, "{{seven}}", { a = [] }], "/n" = [9007199254740993] }
defaults = { "/gift/wrap" = false, "/note" = "$${NONE} {{}}" }
absent-or-null = ["/coupon"]
number-forms = true

[request.login]
post = "/login"
body = { user = "{user}", password = "${TOKEN}" }

[request.close]
post = "/orders/{order}/close"

[request.shut]
delete = "/orders/{order}"

[request.token]
post = "/tokens"

[actor]
login = { request = "login", token-at = "/token" }
users = ["alice", "${TOKEN}@example.com"]
products = [1001, 1002, 1003, 1004, 1005]

[setup]
sql = ["INSERT INTO p SELECT unnest('{products}'::bigint[])", "ANALYZE"]

[teardown]
sql = ["DELETE FROM orders WHERE user_id = ANY ('{users}')"]

[audit]
orders = { table = "shop.orders", id = "id", user = "u", key = "k", product = "p", quantity = "q", fingerprint = "f", status = "s", created = "c", paid-at = "pa", closed-at = "ca", sold = ["CREATED", "$${"] }
movements = { table = "shop.moves", order = "o", product = "p", delta = "d" }

[[audit.sql]]
title = "no order of nothing"
severity = "contract"
query = """
-- none; at all
SELECT id FROM shop.orders WHERE q < 1 AND note <> ';'"""

[[phase]]
name = "ä \\ phase"
burst.same-key = { users = 9, threads = 3, quantity = 2, request = "drop", release = "loop", overlap-share = 0.125 }

[[phase]]
name = "second"
burst.same-key = { users = 100, threads = 500, request = "pay", overlap-share = 1 }

[[phase]]
name = "fingerprint"
burst.same-fingerprint = { users = 2, threads = 3, request = "drop", stagger = "4ms" }

[[phase]]
name = "mutated"
burst.mutated = { users = 2, threads = 3, request = "drop", mutated-share = 0.25, again = 0, arrival = "spread" }

[[phase]]
name = "fresh"
burst.fresh-key = { users = 2, threads = 3, arrival = "around-completion" }

[[phase]]
name = "shared"
burst.shared-key = { users = 4, sharing = 2 }

[[phase]]
name = "last"
burst.last-unit = { users = 4, stock = 3 }

[[phase]]
name = "race"
burst.race = { users = 4, first = "pay", requests = ["close", "shut"], in-turn = true }

[[phase]]
name = "token"
burst.submit-token = { users = 2, threads = 3, request = "drop", token = "token", token-at = "/a/0" }

[[phase]]
name = "mixed"
burst.mixed = { users = 2, threads = 3, request = "drop", variant-share = 0.5, mutated-share = 0.25, fresh-share = 0.25 }

[[phase]]
name = "sequence"
burst.sequential = { users = 2, repeats = 5, vary = ["body", "headers"], request = "drop", route = "pay" }

[[phase]]
name = "bad"
burst.bad-keys = { users = 2 }

[[phase]]
name = "steady"
rate = { per-second = 3, for = "1500ms", duplicate-share = 0.5, quantity = 2, request = "pay" }

[budget]
p99-latency = "431ms"

[limits]
drain = "5s"
quiet = "1s"

[published]
figure = "none"
"#;

/// A profile for a service that runs already.
const ATTACHED: &str = r#"
allow-hosts = ["staging.example.com", "10.0.0.7"]

[target]
urls = ["http://127.0.0.1:8080/base", "https://${HOST}:8443"]
ready = "/healthz"

[postgres]
url = "postgres://auditor:${TOKEN}@10.0.0.7/orders"
proxy = "127.0.0.1:16432"

[redis]
url = "redis://:${TOKEN}@staging.example.com:6379/1"
proxy = "[::1]:16379"
idempotency-keys = "idem:{user}:{key}"
lock-keys = "lock:stock:{product}"

[payments]
url = "http://127.0.0.1:9090"
proxy = "172.17.0.1:9090"

[wires]
roles = { "redis SET lease:stock" = "lock" }
listen-on = ["172.17.0.1"]

[[phase]]
name = "p"
burst.same-key = { users = 2, threads = 2 }
"#;

/// A profile for a command that dupeproof starts.
const LAUNCHED: &str = r#"
[target.launch]
command = ["node", "server.js", "--port={port}", "$${X}"]
instances = 3
env = { DATABASE_URL = "{postgres.url}", KEY = "${TOKEN}", JSON = "{\"a\": {}} $${X}" }
folder = "../server"
ready = "port"
ready-within = "5s"
proxies = false

[redis]
lock-keys = "lock:stock:{product}"

[[phase]]
name = "p"
burst.same-key = { users = 2, threads = 2 }
"#;
