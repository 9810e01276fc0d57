"""Everything that knows how a study is kept: all SQL, both databases, and the file itself.

The contract, for SQLite and PostgreSQL alike:

- A transaction from `Storage.write` is alone in its study, sees everything committed before it,
  and is on disk when the block is left without an error; nobody sees it before. If the block
  raises, nothing of it is there. If the connection breaks at the very end, `UncertainError`
  says that it may or may not be.
- A transaction from `Storage.read` sees one moment, and changes nothing.
- Rewards, failures and steps are only ever added; triggers refuse anything else.
- A `StoredStudy` keeps one study in memory as its rows say. `sync` brings it up to date, at the
  price of what others have changed since; `flush` writes what the transaction has changed, at
  the price of that alone.
- A database of an older version is brought up to date when it is opened for writing, by the
  statements of that version's day; one of a newer version is refused and left as it is.

Functions take the `Connection` of a transaction and hand out plain rows and numbers. What a row
means (whether a reward counts, which pull comes next) is decided outside of this folder, and no
statement is written there.
"""
