"""Methods of classes are wrapped, and given back."""
import functools


class Wraps:
    def __init__(self):
        self.originals = []

    def wrap(self, owner, name, make):
        """Replaces `owner.name` by `make(original)`. Static methods stay static."""
        original = vars(owner)[name]
        plain = original.__func__ if isinstance(original, staticmethod) else original
        wrapped = functools.wraps(plain)(make(plain))
        setattr(owner, name, staticmethod(wrapped) if isinstance(original, staticmethod) else wrapped)
        self.originals.append((owner, name, original))

    def restore(self):
        while self.originals:
            owner, name, original = self.originals.pop()
            setattr(owner, name, original)
