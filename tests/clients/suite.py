"""Runs a published test suite directly and through a proxy, and compares them test by test.

suite.py DIRECT THROUGH COMMAND...: each is a port, which the command finds as `{port}` and in PGPORT.
What differs is run again, three times either way: a test that is unsteady by itself shows it.
Prints a line for the page; ends with 1 where the proxy makes a difference.
"""

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
from collections import Counter, defaultdict

AGAIN = 3


def outcome(case):
    for child in case:
        if child.tag in ("failure", "error"):
            return "failed"
        if child.tag == "skipped":
            return "skipped"
    return "passed"


def run(port, command, only=()):
    """The outcome of each test; a test that goes wrong while it is set up or torn down has failed."""
    environment = os.environ | {"PGPORT": port}
    with tempfile.NamedTemporaryFile(suffix=".xml") as file:
        asked = [word.replace("{port}", port) for word in command] + [f"--junitxml={file.name}", "-o", "junit_family=xunit1"]
        if only:
            asked = [word for word in asked if not word.endswith(".py")] + sorted(only)
        subprocess.run(asked, env=environment, stdout=sys.stderr, check=False)
        outcomes = {}
        for case in xml.parse(file.name).iter("testcase"):
            # A name as pytest takes it back; classes are told apart from modules by what the file is called.
            path = case.get("file")
            inner = case.get("classname").replace(".", "/").removeprefix(path.removesuffix(".py")).strip("/")
            name = "::".join(filter(None, [path, inner.replace("/", "::"), case.get("name")]))
            if outcomes.get(name) != "failed":
                outcomes[name] = outcome(case)
        return outcomes


def counts(outcomes):
    found = Counter(outcomes.values())
    return ", ".join(f"{found[kind]} {kind}" for kind in ("passed", "failed", "skipped"))


def main():
    direct_port, through_port, *command = sys.argv[1:]
    direct, through = run(direct_port, command), run(through_port, command)
    differing = {name for name in direct.keys() | through.keys() if direct.get(name) != through.get(name)}
    unsteady = set()
    if differing:
        seen = defaultdict(lambda: (set(), set()))
        for _ in range(AGAIN):
            for side, port in enumerate((direct_port, through_port)):
                for name, what in run(port, command, differing).items():
                    seen[name][side].add(what)
        for name in differing:
            alone, proxied = seen[name]
            alone |= {direct.get(name)}
            proxied |= {through.get(name)}
            if proxied <= alone or len(alone) > 1:
                unsteady.add(name)
    proxys = differing - unsteady
    notes = [f"differs: {name}" for name in sorted(proxys)]
    notes += [f"unsteady by itself: {name}" for name in sorted(unsteady)]
    told = "equal" if not proxys else "NOT EQUAL"
    print(f"{counts(direct)} | {counts(through)} | {told}" + "".join(f"; {note}" for note in notes))
    return 1 if proxys or not direct else 0


sys.exit(main())
