"""Python imports this at its start if the folder is on `PYTHONPATH`: records if `LEASECHECK_RECORD` is set."""
import importlib.machinery
import importlib.util
import os
import sys

import leasecheck_sglang

leasecheck_sglang.from_environment()

# The machine's own module of this name, which this one stands in front of.
_HERE = os.path.dirname(os.path.abspath(__file__))
_OTHERS = [folder for folder in sys.path if os.path.abspath(folder) != _HERE]
_spec = importlib.machinery.PathFinder.find_spec("sitecustomize", _OTHERS)
if _spec is not None and _spec.loader is not None:
    _spec.loader.exec_module(importlib.util.module_from_spec(_spec))
