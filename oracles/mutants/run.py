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


class Limits:
    """What each stage may take: several times what it takes without a mutant, which is found out when it is needed."""

    def __init__(self, programs):
        self.programs, self.seconds = programs, {}

    def of(self, number, stage):
        if number not in self.seconds:
            said, used = ask(stage, self.programs[stage.program], 0, 3600)
            if said is not None:
                raise SystemExit(f"{stage.program} fails without a mutant: {said}")
            self.seconds[number] = int(2 + 6 * used)
        return self.seconds[number]


def judge(mutant, part, limits):
    """The first test that notices, as [program, test], or none."""
    for number, stage in enumerate(STAGES[part]):
        said, _ = ask(stage, limits.programs[stage.program], mutant["id"], limits.of(number, stage))
        if said is not None:
            return [stage.program, said]
    return None


def load(path, sources):
    """Results that still say something about these sources."""
    if not path.exists():
        return {}
    kept = json.loads(path.read_text())
    return kept["caught_by"] if kept["sources"] == sources else {}


def run(part, shard, shards):
    here = built()
    path = RESULTS / f"{part}-{shard}of{shards}.json"
    sources = here["sources"][part]
    results = load(path, sources)
    mine = [mutant for mutant in here["mutants"] if mutant["part"] == part and mutant["way"] == "switched"]
    mine = [mutant for mutant in mine if mutant["id"] % shards == shard % shards]
    left = [mutant for mutant in mine if results.get(mutant["name"]) is None]
    print(f"{len(mine)} mutants of {part}, {len(left)} to be asked", flush=True)
    limits = Limits(here["programs"])
    path.parent.mkdir(exist_ok=True)
    # What has been missed before takes longest.
    for mutant in sorted(left, key=lambda mutant: mutant["name"] in results):
        caught_by = judge(mutant, part, limits)
        results[mutant["name"]] = caught_by
        if caught_by is None:
            print(f"missed: {mutant['name']}", flush=True)
        kept = {"commit": here["commit"], "sources": sources, "caught_by": results}
        path.write_text(json.dumps(kept, indent=1))
    missed = sum(results[mutant["name"]] is None for mutant in mine)
    print(f"{len(mine) - missed} of {len(mine)} caught")


def collected(part, here):
    """The results of all shards, by name."""
    results = {}
    for path in sorted(RESULTS.glob(f"{part}-*.json")):
        for name, caught_by in load(path, here["sources"][part]).items():
            results[name] = results.get(name) or caught_by
    return results
