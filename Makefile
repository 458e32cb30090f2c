# `make drill` and `make test` are all that a fresh Debian or Ubuntu with Rust needs.

.PHONY: drill demo test lint docs bench soak fuzz transparency drivers

# The main drill in the lab: every way in which buyers ask twice, at a correct order service.
drill:
	@.ci/prepare
	cargo build --release --locked
	cargo run --release --locked --quiet -- run profiles/checkout.toml

# The published experiments, one after the other, in one table.
demo:
	@.ci/prepare
	cargo run --release --locked --quiet -- demo

# The whole gate.
test: lint docs
	cargo test --locked

lint:
	@.ci/prepare test
	cargo fmt --all --check
	cargo clippy --locked --all-targets -- -D warnings

docs:
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --quiet

# Comparisons with peers, as ratios within one run.
bench:
	@.ci/prepare bench
	cargo bench --locked --bench client --bench drill --bench audit --bench shop --bench wire

# What takes longer than the gate allows: many repetitions, kill campaigns, fuzzing. Writes
# docs/measured/.
soak:
	@.ci/prepare
	cargo test --release --locked --test soak -- --ignored --nocapture --test-threads=1
	@.ci/transparency
	@.ci/drivers
	@.ci/fuzz

# The codecs of the wire against anything, FUZZ_SECONDS (3600) for all protocols at once.
fuzz:
	@.ci/prepare
	@.ci/fuzz

# Real clients and two published test suites, directly and through the proxies. Installs clients from
# their registries into a temporary folder.
transparency:
	@.ci/prepare test
	@.ci/transparency

# What eight drivers tell their applications when a rule meets them, and what is in the servers then.
# Installs clients likewise.
drivers:
	@.ci/prepare test
	@.ci/drivers
