"""A copy of the workspace in which every mutant can be switched on, and the test programs built from it."""

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

from instrument import instrument, tagged_lines

ROOT = Path(__file__).resolve().parents[2]
OUT = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "mutants"
TREE = OUT / "tree"

# What is mutated, in the words of cargo-mutants. core/src/shell is left to models/: loom takes minutes for one change.
PARTS = {
    "core": ["-p", "leasecheck-core", "--exclude", "core/src/shell/**"],
    "sim": ["-p", "leasecheck-sim", "-f", "sim/src/invariants/**", "-f", "sim/src/world/access.rs"],
}
# What is changed, as paths.
CODE = {"core": ("core/src/",), "sim": ("sim/src/invariants/", "sim/src/world/access.rs")}
# The tests that look at them: package, and target.
PROGRAMS = [
    ("leasecheck-core", "lib"),
    ("leasecheck-core", "all"),
    ("leasecheck-oracles", "state_machines"),
    ("leasecheck-oracles", "corpus"),
    ("leasecheck-sim", "lib"),
    ("leasecheck-sim", "invariants"),
    ("leasecheck-sim", "messages"),
    ("leasecheck-sim", "shadow"),
    ("leasecheck-sim", "hunt"),
    ("leasecheck-sim", "rules"),
    ("leasecheck-sim", "guards"),
    ("leasecheck-sim", "reduction"),
]
SWITCH = """
/// The mutant that is on.
#[inline]
pub fn mutant() -> u32 {
    static ON: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    *ON.get_or_init(|| std::env::var("MUTANT").ok().and_then(|on| on.parse().ok()).unwrap_or(0))
}
"""


def run(arguments, **options):
    return subprocess.run(arguments, check=True, **options)


def listed():
    """Every mutant that cargo-mutants knows, numbered from 1."""
    mutants = []
    for part, selection in PARTS.items():
        found = run(["cargo", "mutants", "--list", "--json", *selection], cwd=ROOT, stdout=subprocess.PIPE).stdout
        for mutant in json.loads(found):
            kept = {key: mutant[key] for key in ("name", "file", "genre", "replacement", "span")}
            mutants.append({"id": len(mutants) + 1, "part": part, **kept})
    return mutants


def write(path, content):
    """Leaves a file alone that is so already: cargo goes by the time."""
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def copy(tree, mutants):
    """Writes the workspace to a folder. Returns the ids of the mutants in it, and for each part a digest of its code."""
    files = run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, stdout=subprocess.PIPE)
    names = {name for name in files.stdout.decode().split("\0") if name and (ROOT / name).is_file()}
    for old in [path for path in tree.rglob("*") if path.is_file()]:
        if str(old.relative_to(tree)) not in names:
            old.unlink()
    by_file = {}
    for mutant in mutants:
        by_file.setdefault(mutant["file"], []).append(mutant)
    expressed, digests = set(), {part: hashlib.sha256() for part in PARTS}
    for name in sorted(names):
        content = (ROOT / name).read_bytes()
        for part, digest in digests.items():
            if name.startswith(CODE[part]):
                digest.update(name.encode() + content)
        if name in by_file:
            here = "crate" if name.startswith("core/") else "leasecheck_core"
            text, done = instrument(content, by_file[name], f"{here}::mutant()")
            expressed |= done
            content = text.encode()
        if name == "core/src/lib.rs" and mutants:
            content += SWITCH.encode()
        write(tree / name, content)
    return expressed, {part: digest.hexdigest() for part, digest in digests.items()}


# Takes long to optimise, and no time to run.
SIM = "profile.dev.package.leasecheck-sim.opt-level=1"


def environment():
    """What is built once and run a thousand times is built to run fast."""
    return dict(
        os.environ,
        CARGO_TARGET_DIR=str(OUT / "build"),
        CARGO_PROFILE_DEV_OPT_LEVEL="2",
        CARGO_PROFILE_DEV_DEBUG="0",
        CARGO_INCREMENTAL="0",
    )


def messages(arguments):
    """The messages of cargo, and how it ended."""
    done = subprocess.run(
        ["cargo", *arguments, "--config", SIM, "--message-format", "json"],
        cwd=TREE,
        env=environment(),
        stdout=subprocess.PIPE,
    )
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith(b"{")], done.returncode


def blamed(errors):
    """The mutants that the compiler's errors are in."""
    lines, guilty = {}, set()
    for error in errors:
        found = set()
        for span in error["spans"]:
            path = TREE / span["file_name"]
            if not span["is_primary"] or not path.exists():
                continue
            if path not in lines:
                lines[path] = tagged_lines(path.read_text())
            found |= {
                mutant for first, last, mutant in lines[path] if first <= span["line_end"] and span["line_start"] <= last
            }
        if error["spans"] and not found:
            raise SystemExit(f"the instrumented tree does not compile, and no mutant is to blame:\n{error['rendered']}")
        guilty |= found
    return guilty


def weed(mutants):
    """Copies until the compiler accepts the tree. Returns the ids in it, the names that it refuses, and the digests."""
    # Kept, so that the next build of the same code changes no file twice.
    path = OUT / "refused.json"
    refused = set(json.loads(path.read_text())) if path.exists() else set()
    while True:
        expressed, digests = copy(TREE, [mutant for mutant in mutants if mutant["name"] not in refused])
        said, code = messages(["check", "-q", "--lib", "-p", "leasecheck-core", "-p", "leasecheck-sim"])
        if code == 0:
            path.write_text(json.dumps(sorted(refused & {mutant["name"] for mutant in mutants}), indent=1))
            return expressed, refused, digests
        compiler = [line["message"] for line in said if line.get("reason") == "compiler-message"]
        guilty = blamed([message for message in compiler if message["level"] == "error"])
        if not guilty:
            raise SystemExit("the instrumented tree cannot be checked; see above")
        print(f"the compiler refuses {len(guilty)} more mutants", flush=True)
        refused |= {mutant["name"] for mutant in mutants if mutant["id"] in guilty}


def programs(folder):
    """Builds the test programs and copies each into the folder: a run that is under way keeps what it has started with."""
    packages = sorted({package for package, _ in PROGRAMS})
    selection = [word for package in packages for word in ("-p", package)]
    targets = [word for _, target in PROGRAMS if target != "lib" for word in ("--test", target)]
    said, code = messages(["test", "-q", "--no-run", "--lib", *targets, *selection])
    if code != 0:
        raise SystemExit("the tests of the instrumented tree do not build; see above")
    paths = {}
    folder.mkdir(parents=True, exist_ok=True)
    for line in said:
        if line.get("reason") == "compiler-artifact" and line["profile"]["test"] and line.get("executable"):
            package = Path(line["manifest_path"]).parent
            target = "lib" if "lib" in line["target"]["kind"] else line["target"]["name"]
            key = f"leasecheck-{package.name} {target}"
            program = folder / key.replace(" ", "-")
            shutil.copy2(line["executable"], f"{program}.new")
            os.replace(f"{program}.new", program)
            paths[key] = {"program": str(program), "folder": str(package)}
    return paths


def way(mutant, expressed, refused):
    """How a mutant is judged."""
    if mutant["id"] in expressed:
        return "switched"
    # What cannot be returned cannot be the body either.
    if mutant["genre"] == "FnValue" and mutant["name"] in refused:
        return "unviable"
    return "plain"


def build():
    mutants = listed()
    expressed, refused, digests = weed(mutants)
    commit = run(["git", "rev-parse", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout.strip()
    clean = not run(["git", "status", "--porcelain"], cwd=ROOT, stdout=subprocess.PIPE).stdout
    for mutant in mutants:
        mutant["way"] = way(mutant, expressed, refused)
    built = {"commit": commit if clean else f"{commit} with changes", "sources": digests, "mutants": mutants}
    built["programs"] = programs(OUT / "programs" / hashlib.sha256(json.dumps(digests).encode()).hexdigest()[:12])
    (OUT / "built.json").write_text(json.dumps(built, indent=1))
    count = {word: sum(mutant["way"] == word for mutant in mutants) for word in ("switched", "plain", "unviable")}
    print(f"{len(mutants)} mutants: {count}")
