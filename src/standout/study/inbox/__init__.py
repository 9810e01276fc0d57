"""Processes of one user on one machine that want to change a study at the same time.

The database lets one in after the other, and each has to catch up on what the others did
before it can begin. So whoever has its turn carries out what the others wait for as well: in
the same transaction, with one wait for the disk for all.

The contract:

- **The database's own lock decides.** Everything here only saves time. A process without an inbox
  (another user, machine, version or system, no folder for it, a clock of its own) takes the
  database's lock as ever, and so does one that gets no answer.
- `lock.Inbox` says whose turn it is among those who share the inbox, by a lock on a file that
  the system lets go of when a process dies. Two turns at once would be harmless.
- Who has the turn listens on a socket beside that file while somebody has waited of late.
  Each connection is one request (`requests.Request`) as JSON. The end of a connection takes back
  what has not been begun: a turn that ends closes all of its own.
- **Exactly once.** Who has the turn looks whether a request was taken back *after* it has got the
  database's lock, and sends the answer *before* it commits; when the disk has everything, it
  says so, and only then is the answer believed. So whoever gets no such word, takes its request
  back, gets the database's lock itself and finds no answer in its socket, knows that nothing was
  done and never will be; if it finds one, the database says whether that was committed, by the
  key of the rewards and by the moment of the tickets. It matters not who is killed or frozen, or
  when.
- A request that cannot be carried out is handed back, and whoever sent it tries it alone: errors
  arise where they belong. One that breaks a transaction takes the others back with it, and each
  is then tried alone.
- **Nobody else gets in.** The folder belongs to the user alone (`folder`), names are digests of
  bounded length, and what is sent is checked like a caller's own. It acts for whoever sent it:
  the name of the worker is the sender's. Those who may reach a database by another role do not
  share an inbox.
"""
