"""Mutants that cargo-mutants builds one by one: those that no switch can express, and a sample of the others."""

import json
import random
import re
import subprocess

from run import built, collected
from stages import SLOW, without
from tree import OUT, PARTS, copy, environment

# A second copy of the workspace, in which cargo-mutants changes one thing at a time. What the workspace depends on is
# built already.
PLAIN = OUT / "plain"
# The tests of the package that is mutated.
TESTS = {
    "core": ["--test-package", "leasecheck-core", "--", "--lib", "--test", "all", "--", *without(SLOW)],
    "sim": ["--test-package", "leasecheck-sim", "--", "--lib", "--test", "invariants", "--test", "messages"],
}
RUNNER = "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER"
SUMMARIES = {"CaughtMutant": "caught", "Timeout": "caught", "MissedMutant": "missed", "Unviable": "unviable"}


def judged(part, names, name):
    """What cargo-mutants says of these mutants, by name."""
    if not names:
        return {}
    copy(PLAIN, [])
    # Compiling is most of the work here. Endless loops end by a limit on CPU time.
    quick = f"profile.dev.package.leasecheck-{part}.opt-level={0 if part == 'core' else 1}"
    limits = {RUNNER: "prlimit --cpu=120 --as=6000000000", "PROPTEST_CASES": "100"}
    selected = [word for name in names for word in ("--re", f"^{re.escape(name)}$")]
    out = OUT / name
    out.mkdir(exist_ok=True)
    command = ["cargo", "mutants", "--in-place", "--no-shuffle", "--output", str(out), f"--cargo-arg=--config={quick}"]
    subprocess.run([*command, *PARTS[part], *selected, *TESTS[part]], cwd=PLAIN, env={**environment(), **limits})
    outcomes = json.loads((out / "mutants.out/outcomes.json").read_text())["outcomes"]
    mutants = [outcome for outcome in outcomes if outcome["scenario"] != "Baseline"]
    return {outcome["scenario"]["Mutant"]["name"]: SUMMARIES[outcome["summary"]] for outcome in mutants}


def rest(part):
    """The mutants that are not in the build."""
    here = built()
    names = [mutant["name"] for mutant in here["mutants"] if mutant["part"] == part and mutant["way"] == "plain"]
    said = judged(part, names, f"plain-{part}")
    unsaid = set(names) - set(said)
    if unsaid:
        raise SystemExit(f"cargo-mutants says nothing about {sorted(unsaid)}")
    kept = {"commit": here["commit"], "sources": here["sources"][part], "said": said}
    (OUT / f"plain-{part}.json").write_text(json.dumps(kept, indent=1))
    print({word: sum(1 for name in said if said[name] == word) for word in ("caught", "missed", "unviable")})


def sample(count):
    """A random sample of the switched mutants, for which both ways must agree. What only another package's tests
    notice is missed here."""
    here = built()
    disagree, both = [], []
    for part in PARTS:
        found = collected(part, here)
        share = round(count * len(found) / sum(len(collected(other, here)) for other in PARTS))
        names = random.Random(here["sources"][part]).sample(sorted(found), share)
        said = judged(part, names, f"sample-{part}")
        for name in names:
            own = found[name] is not None and found[name][0].startswith(f"leasecheck-{part} ")
            both.append([name, "caught" if own else "missed", said.get(name)])
            if both[-1][1] != both[-1][2]:
                disagree.append(both[-1])
    kept = {"commit": here["commit"], "sources": here["sources"], "sample": both}
    (OUT / "sample.json").write_text(json.dumps(kept, indent=1))
    for name, switched, plain in disagree:
        print(f"{name}: {switched} when switched on, {plain} by cargo-mutants")
    print(f"{len(both)} mutants, {len(disagree)} judged otherwise")
