"""The adversary of the guarantee: `python -m tests.attack --help`."""
