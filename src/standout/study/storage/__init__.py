"""Everything that knows how studies are kept: all SQL, both databases, and the file itself.

`store.py` has the contract. What an event means (whether a reward counts, which pull comes
next) is decided outside of this folder, and no statement is written there.
"""
