"""Python imports this at its start if the folder is on `PYTHONPATH`: records if `LEASECHECK_RECORD` is set."""
import leasecheck_sglang

leasecheck_sglang.from_environment()
