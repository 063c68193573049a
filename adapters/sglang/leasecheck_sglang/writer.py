"""Lines are tuples until a thread of their own has time to write them."""
import json
import os
import sys
import threading
import time

# Seconds between two writes, and how long the first waits for further arenas: they all stand in the first line.
PERIOD = 0.5
SETTLE = 2.0


def template(kind, *keys, **fixed):
    """The text of a line of that kind, with places for its thread, its time and the values of `keys`.

    Values are written as `str` writes them: numbers, lists of numbers, and what `Text`, `Later` and `flag` make of others.
    """
    known = "".join(f',"{key}":{json.dumps(value)}' for key, value in fixed.items())
    return f'{{"k":"{kind}","th":%s,"t":%s' + "".join(f',"{key}":%s' for key in keys) + known.replace("%", "%%") + "}\n"


class Text:
    """A value that becomes a JSON string when its line is written."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def __str__(self):
        return json.dumps(str(self.value))


class Later:
    """A tensor that becomes a list when its line is written."""

    __slots__ = ("tensor",)

    def __init__(self, tensor):
        self.tensor = tensor

    def __str__(self):
        return str(self.tensor.tolist())


class Writer:
    """Collects the lines of one trace. `add` is one append of one tuple, which the interpreter does atomically: a
    `template`, the thread, the time, the values."""

    def __init__(self, path, lazy=False):
        """`lazy`: there is no file before there is something to write."""
        self.path = path
        self.lines = []
        self.add = self.lines.append
        self.arenas, self.names = [], set()
        self.late = 0
        self.numbers = 0
        self.written = 0
        self.file = None if lazy else self.open()
        self.last_arena = time.monotonic()
        self.begun = False
        self.closing = threading.Event()
        self.thread = threading.Thread(target=self._loop, name="leasecheck-writer", daemon=True)
        self.thread.start()

    def open(self):
        return open(self.path, "w", encoding="utf-8")

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
            self.file = self.file or self.open()
            header = {"leasecheck_trace": 1, "producer": "leasecheck_sglang 1, sglang 0.5.23", "arenas": self.arenas}
            # Move gates of device pools are predicates that nobody calls when they change.
            gated = any(arena.get("sink") for arena in self.arenas)
            header["complete"] = ["pages"] if gated else ["pages", "leases"]
            self.file.write(json.dumps(header) + "\n")
        # Appends go on at the end meanwhile.
        count = len(self.lines)
        if count:
            self.file.writelines([line[0] % line[1:] for line in self.lines[:count]])
            del self.lines[:count]
            self.written += count
        self.file.flush()

    def abandon(self):
        """In a forked process: what this copy still holds must not reach the parent's file."""
        self.lines.clear()
        if self.file is not None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.file.fileno())
            os.close(nowhere)

    def close(self):
        self.closing.set()
        self.thread.join()
        if self.file is None and not self.arenas:
            return 0
        self._flush()
        self.file.write('{"k":"end"}\n')
        self.file.close()
        if self.late:
            print(f"leasecheck_sglang: {self.late} arenas were made too late to be recorded", file=sys.stderr)
        return self.written
