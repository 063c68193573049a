"""Methods of classes are wrapped, and given back."""
import functools

_NONE = object()


class Wraps:
    def __init__(self):
        self.originals = []

    def wrap(self, owner, name, make):
        """Replaces `owner.name` by `make(original)`."""
        original = vars(owner)[name]
        self.add(owner, name, functools.wraps(original)(make(original)))

    def add(self, owner, name, value):
        self.originals.append((owner, name, vars(owner).get(name, _NONE)))
        setattr(owner, name, value)

    def restore(self):
        while self.originals:
            owner, name, original = self.originals.pop()
            if original is _NONE:
                delattr(owner, name)
            else:
                setattr(owner, name, original)
