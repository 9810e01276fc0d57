"""The storage of studies: all SQL, both databases, and the file itself.

`store.py` has the contract. The meaning of an event (whether a reward counts, which pull comes
next) is decided elsewhere; no SQL is written outside this folder.
"""
