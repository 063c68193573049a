#!/usr/bin/env python3
"""Runs PyTorch's stream sanitizer and leasecheck on the same traces, and prints what each of them reports.

The sanitizer's event handler needs no GPU. Every line of a trace in tests/traces/sanitizer becomes the call that the
sanitizer would have got from a running program: work on a stream is a kernel launch whose tensors are known by the
address of their first byte. What it is never told of (a host thread that touches pinned memory, the size of a view)
has no call. The exit code is 1 if either side reports something else than tests/traces/sanitizer/expected.tsv says, 2 without torch.

    apt-get install --no-install-recommends python3-torch
    /usr/bin/python3 adapters/torch_sanitizer/compare.py [LEASECHECK]

LEASECHECK is the program, `cargo run -q --` if left out.
"""

import json
import logging
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACES = ROOT / "tests" / "traces" / "sanitizer"


def sanitizer(trace):
    """The errors that the sanitizer reports for a trace."""
    import inspect

    from torch.cuda import _sanitizer

    handler = _sanitizer.EventHandler()
    launch_takes_outputs = "outputs" in inspect.signature(handler._handle_kernel_launch).parameters
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    bases, base = {}, 0
    for arena in lines[0]["arenas"]:
        bases[arena["name"]] = base
        base += arena["bytes"]

    def launch(stream, read, written):
        names = {pointer: ["tensor"] for pointer in read + written}
        arguments = [set(read), set(written)] + ([set()] if launch_takes_outputs else [])
        return handler._handle_kernel_launch(stream, *arguments, "kernel", names)

    def pointers(name, places):
        return [bases[name] + low for low in places[::2]]

    errors = []
    for line in lines[1:]:
        kind, stream = line["k"], line.get("s")
        if kind in ("read", "write") and stream is not None:
            touched = pointers(line["in"], line["at"])
            errors += launch(stream, touched, []) if kind == "read" else launch(stream, [], touched)
        elif kind == "copy":
            errors += launch(stream, pointers(line["src"], line["sat"]), pointers(line["dst"], line["dat"]))
        elif kind == "record":
            handler._handle_event_record(line["ev"], stream)
        elif kind == "wait":
            handler._handle_event_wait(line["ev"], stream)
        elif kind == "fresh":
            handler._handle_event_deletion(line["ev"])
            handler._handle_event_creation(line["ev"])
        elif kind == "sync":
            handler._handle_event_synchronization(line["ev"])
        elif kind == "sync_stream":
            handler._handle_stream_synchronization(stream)
        elif kind == "sync_device":
            handler._handle_device_synchronization()
        elif kind == "stream":
            handler._handle_stream_creation(stream)
        elif kind == "mem_alloc":
            handler._handle_memory_allocation(bases[line["a"]] + line["lo"])
        elif kind == "mem_free":
            handler._handle_memory_deallocation(bases[line["a"]] + line["lo"])
        elif kind in ("read", "write", "end"):
            pass  # a host thread: nobody tells the sanitizer
        else:
            raise ValueError(f"{trace.name}: no call stands for `{kind}`")
    return errors


def leasecheck(program, traces):
    """Per trace, the invariant of the first finding, or `accepted`."""
    command = [*program, "trace", "--format", "json", *map(str, traces)]
    output = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=False).stdout
    reports = json.loads(output)["traces"]
    return [report["findings"][0]["invariant"] if report["findings"] else "accepted" for report in reports]


def main():
    try:
        import torch  # noqa: F401
    except ImportError:
        print(f"{sys.executable} has no torch: see the beginning of this file", file=sys.stderr)
        return 2
    logging.disable(logging.CRITICAL)
    program = sys.argv[1:] or ["cargo", "run", "-q", "--"]
    rows = [row.split("\t") for row in (TRACES / "expected.tsv").read_text().splitlines() if not row.startswith("#")]
    found = leasecheck(program, [TRACES / f"{row[0]}.jsonl" for row in rows])
    print(f"{'trace':34}{'PyTorch':12}{'leasecheck':14}what happens")
    wrong = 0
    for (name, ours, _, _, theirs, what), mine in zip(rows, found):
        reported = "race" if sanitizer(TRACES / f"{name}.jsonl") else "nothing"
        unexpected = (mine, reported) != (ours, theirs)
        wrong += unexpected
        print(f"{name:34}{reported:12}{mine:14}{what}{'   ✗ unexpected' if unexpected else ''}")
    print(f"{len(rows)} situations, {wrong} unexpected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
