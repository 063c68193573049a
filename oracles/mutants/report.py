"""The score and the survivors, as they stand in oracles/mutants.md below its first rule."""

import json
import re
import tomllib

from run import built, collected
from tree import OUT, PARTS, ROOT

PAGE = ROOT / "oracles/mutants.md"
REASONS = ROOT / "oracles/mutants/equivalent.toml"
RULE = "<!-- what follows is written by oracles/mutants.sh report -->\n"


def plain(part, here):
    path = OUT / f"plain-{part}.json"
    kept = json.loads(path.read_text()) if path.exists() else {"sources": None}
    return kept["said"] if kept["sources"] == here["sources"][part] else {}


class Reasons:
    """Why a mutant changes nothing that could be seen: by file, line of text, and change."""

    def __init__(self):
        self.entries = tomllib.loads(REASONS.read_text())["equivalent"]
        self.used = set()

    def why(self, mutant):
        place = mutant["span"]["start"]["line"]
        line = (ROOT / mutant["file"]).read_text().split("\n")[place - 1].strip()
        for at, entry in enumerate(self.entries):
            here = entry["file"] == mutant["file"] and entry["line"] == line
            if here and any(change in mutant["name"] for change in entry["changes"]):
                self.used.add(at)
                return entry["why"]
        return None


def report():
    here = built()
    reasons = Reasons()
    rows, survivors, unasked = [], [], []
    for part in PARTS:
        switched, single = collected(part, here), plain(part, here)
        mine = [mutant for mutant in here["mutants"] if mutant["part"] == part]
        said = {}
        for mutant in mine:
            name = mutant["name"]
            if mutant["way"] == "switched" and name in switched:
                said[name] = "missed" if switched[name] is None else "caught"
            elif mutant["way"] == "unviable":
                said[name] = "unviable"
            else:
                said[name] = single.get(name, "not asked")
        words = list(said.values())
        viable = words.count("caught") + words.count("missed")
        missed = [mutant for mutant in mine if said[mutant["name"]] == "missed"]
        explained = [(mutant, reasons.why(mutant)) for mutant in missed]
        equal = sum(why is not None for _, why in explained)
        rows.append([part, len(mine), words.count("unviable"), viable, words.count("caught"), equal, len(missed) - equal])
        survivors += explained
        unasked += [name for name in said if said[name] == "not asked"]
    if unasked:
        print(f"{len(unasked)} mutants have not been asked:", *unasked[:20], sep="\n  ")
    rows.append(["both", *[sum(row[column] for row in rows) for column in range(1, 7)]])
    lines = [
        f"Measured at commit {here['commit'][:12]}{here['commit'][40:]}.",
        "",
        "| part | mutants | do not compile | viable | caught | score | equivalent | a test is missing |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for part, total, unviable, viable, caught, equal, missing in rows:
        score = f"{100 * caught / max(viable, 1):.1f} %"
        lines.append(f"| {part} | {total} | {unviable} | {viable} | {caught} | {score} | {equal} | {missing} |")
    if unasked:
        lines += ["", f"Not asked: {len(unasked)} mutants."]
    path = OUT / "sample.json"
    if path.exists():
        sample = json.loads(path.read_text())
        if sample["sources"] == here["sources"]:
            same = sum(switched == single for _, switched, single in sample["sample"])
            lines += ["", f"Of {len(sample['sample'])} switched mutants drawn at random, cargo-mutants alone judges {same} alike."]
    by_why = {}
    for mutant, why in survivors:
        by_why.setdefault(why, []).append(mutant)
    for title, chosen in (
        ("Equivalent: no test could see them", [why for why in by_why if why is not None]),
        ("Missed: a test is missing", [None] if None in by_why else []),
    ):
        if chosen:
            lines += ["", f"## {title}"]
        for why in chosen:
            lines += [""] if why is None else ["", f"{why}", ""]
            lines += [f"- `{mutant['name']}`" for mutant in by_why[why]]
    for at, entry in enumerate(reasons.entries):
        if at not in reasons.used:
            print(f"no survivor has this reason any more: {entry['file']}: {entry['line']}")
    head = PAGE.read_text().split(RULE)[0]
    PAGE.write_text(head + RULE + "\n" + "\n".join(lines) + "\n")
    print("\n".join(lines[2 : 4 + len(rows)]))
