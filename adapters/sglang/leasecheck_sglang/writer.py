"""Lines are tuples until a thread of their own has time to write them."""
import json
import sys
import threading
import time

# Seconds between two writes, and how long the first waits for further arenas: they all stand in the first line.
PERIOD = 0.5
SETTLE = 2.0


class Writer:
    """Collects the lines of one trace. `add` is one append of one tuple, which the interpreter does atomically."""

    def __init__(self, path):
        self.path = path
        self.lines = []
        self.add = self.lines.append
        self.arenas, self.names = [], set()
        self.late = 0
        self.numbers = 0
        self.written = 0
        self.file = open(path, "w", encoding="utf-8")
        self.last_arena = time.monotonic()
        self.begun = False
        self.closing = threading.Event()
        self.thread = threading.Thread(target=self._loop, name="leasecheck-writer", daemon=True)
        self.thread.start()

    def number(self, thing):
        """A number of its own for an event or a stream; addresses are used again."""
        try:
            return thing._leasecheck_number
        except AttributeError:
            self.numbers += 1
            number = self.numbers
            try:
                thing._leasecheck_number = number
            except AttributeError:
                return id(thing)
            return number

    def arena(self, name, definition):
        """A name of its own for an arena; `None` if the first line is written already."""
        if self.begun:
            self.late += 1
            return None
        unique, count = name, 1
        while unique in self.names:
            count += 1
            unique = f"{name}{count}"
        self.names.add(unique)
        self.arenas.append(dict(definition, name=unique))
        self.last_arena = time.monotonic()
        return unique

    def _loop(self):
        while not self.closing.wait(PERIOD):
            if self.begun or (self.lines and time.monotonic() - self.last_arena > SETTLE):
                self._flush()

    def _flush(self):
        if not self.begun:
            self.begun = True
            header = {"leasecheck_trace": 1, "producer": "leasecheck_sglang 1, sglang 0.5.23", "arenas": self.arenas}
            # Move gates of device pools are predicates that nobody calls when they change.
            gated = any(arena.get("sink") for arena in self.arenas)
            header["complete"] = ["pages"] if gated else ["pages", "leases"]
            self.file.write(json.dumps(header) + "\n")
        # Appends go on at the end meanwhile.
        count = len(self.lines)
        if count:
            self.file.writelines(map(render, self.lines[:count]))
            del self.lines[:count]
            self.written += count
        self.file.flush()

    def close(self):
        self.closing.set()
        self.thread.join()
        self._flush()
        self.file.write('{"k":"end"}\n')
        self.file.close()
        if self.late:
            print(f"leasecheck_sglang: {self.late} arenas were made too late to be recorded", file=sys.stderr)
        return self.written


def plain(value):
    """What can be written: tensors become lists here, on the writer's thread."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return value


def render(line):
    """A tuple `(kind, thread, time, key, value, key, value, ...)` as a line."""
    kind, thread, when, *rest = line
    out = {"k": kind, "th": thread, "t": when}
    for at in range(0, len(rest), 2):
        value = plain(rest[at + 1])
        if value is not None:
            out[rest[at]] = value
    return json.dumps(out, separators=(",", ":")) + "\n"
