"""Runs the tests on every mutant of a shard. What is caught once is not asked again, as long as the code is the same."""

import json

from stages import STAGES, ask
from tree import OUT

RESULTS = OUT / "results"


def built():
    path = OUT / "built.json"
    if not path.exists():
        raise SystemExit("nothing is built: oracles/mutants.sh build")
    return json.loads(path.read_text())


def limit(stage, program):
    """What the tests may take in seconds of CPU time: several times what they take without a mutant."""
    said, used = ask(stage, program, 0, 3600)
    if said is not None:
        raise SystemExit(f"{stage.program} fails without a mutant: {said}")
    return int(2 + 6 * used)


def load(path, sources):
    """Results that still say something about these sources."""
    if not path.exists():
        return {}
    kept = json.loads(path.read_text())
    return kept["caught_by"] if kept["sources"] == sources else {}


def run(part, shard, shards):
    here = built()
    path = RESULTS / f"{part}-{shard}of{shards}.json"
    path.parent.mkdir(exist_ok=True)
    sources = here["sources"][part]
    results = load(path, sources)
    mine = [mutant for mutant in here["mutants"] if mutant["part"] == part and mutant["way"] == "switched"]
    mine = [mutant for mutant in mine if mutant["id"] % shards == shard % shards]
    left = [mutant for mutant in mine if results.get(mutant["name"]) is None]
    print(f"{len(mine)} mutants of {part}, {len(left)} to be asked", flush=True)

    def keep(mutant, caught_by):
        results[mutant["name"]] = caught_by
        path.write_text(json.dumps({"commit": here["commit"], "sources": sources, "caught_by": results}, indent=1))

    # The cheapest tests first, for all: the others are for those that are left then.
    for stage in STAGES[part]:
        if not left:
            break
        program, asked, left = here["programs"][stage.program], left, []
        seconds = limit(stage, program)
        for mutant in asked:
            said, _ = ask(stage, program, mutant["id"], seconds)
            if said is None:
                left.append(mutant)
            else:
                keep(mutant, [stage.program, said])
        print(f"{len(left)} are left after {' '.join([stage.program, *stage.arguments])}", flush=True)
    for mutant in left:
        keep(mutant, None)
        print(f"missed: {mutant['name']}")
    print(f"{len(mine) - len(left)} of {len(mine)} caught")


def collected(part, here):
    """The results of all shards, by name."""
    results = {}
    for path in sorted(RESULTS.glob(f"{part}-*.json")):
        for name, caught_by in load(path, here["sources"][part]).items():
            results[name] = results.get(name) or caught_by
    return results
