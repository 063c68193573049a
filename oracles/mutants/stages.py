"""Which tests look at a mutant, in which order, and what one of them says."""

import os
import re
import resource
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from tree import ROOT, TREE

# Tests of core that take most of the time, and rarely see what the others do not; some of them count what they have seen,
# and want all that they usually draw.
SLOW = ["holes_first", "admission::admitted", "stress::"]
# A share of what the tests usually draw: most mutants are noticed at once.
FEW = {"PROPTEST_CASES": "40"}
MEMORY = 6 << 30


@dataclass
class Stage:
    program: str
    arguments: list = field(default_factory=list)
    environment: dict = field(default_factory=dict)


def without(tests):
    return [word for test in tests for word in ("--skip", test)]


# The cheapest first: most mutants get no further than to the second.
STAGES = {
    "core": [
        Stage("leasecheck-core lib", environment=FEW),
        Stage("leasecheck-core all", without([*SLOW, "traces::"]), FEW),
        Stage("leasecheck-oracles corpus"),
        Stage("leasecheck-core all", ["chain::"]),
        Stage("leasecheck-core all", ["pack::", "leases::", "select::", "geometry::"]),
        Stage("leasecheck-oracles state_machines"),
        Stage("leasecheck-sim invariants", ["every_case_stands_as_claimed"]),
        Stage("leasecheck-core all", without(SLOW)),
        Stage("leasecheck-core all", SLOW),
    ],
    "sim": [
        Stage("leasecheck-sim invariants", ["every_case_stands_as_claimed"]),
        Stage("leasecheck-sim messages"),
        Stage("leasecheck-sim shadow"),
        Stage("leasecheck-sim lib"),
        Stage("leasecheck-oracles corpus"),
        Stage("leasecheck-sim invariants"),
        Stage("leasecheck-sim reduction"),
        Stage("leasecheck-sim guards"),
        Stage("leasecheck-sim hunt", ["the_design_holds_and_every_reachable_mark_is_reached"]),
        Stage("leasecheck-sim rules"),
    ],
}


def ask(stage, program, mutant, seconds):
    """What the tests say: None if they pass, else what failed first; and the CPU time that they took.

    `seconds` of CPU time is what they may take: a clock would depend on what else the machine does. Only tests that wait
    for each other for ever are ended by the clock.
    """
    environment = dict(
        os.environ,
        MUTANT=str(mutant),
        RUST_BACKTRACE="0",
        RUST_TEST_THREADS="1",
        RAYON_NUM_THREADS="1",
        PROPTEST_MAX_SHRINK_ITERS="0",
        CARGO_MANIFEST_DIR=program["folder"],
        **stage.environment,
    )

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(
            [program["program"], *stage.arguments],
            cwd=program["folder"],
            env=environment,
            preexec_fn=limit,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=60 * seconds,
        )
    except subprocess.TimeoutExpired:
        return "it waits for ever", 0.0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode == 0:
        return None, used
    forget()
    failed = re.findall(r"^test (\S+) .*FAILED$", done.stdout, re.MULTILINE)
    if failed:
        return failed[0], used
    return f"the tests end with {done.returncode} after {used:.0f} s", used


def forget():
    """State machines keep what they find, for the next run; the next run here is about another mutant."""
    kept = Path("oracles/tests/operations")
    for path in (TREE / kept).rglob("*.jsonl"):
        if not (ROOT / path.relative_to(TREE)).exists():
            path.unlink()
    for path in (TREE / "oracles/tests").glob("*.proptest-regressions"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
