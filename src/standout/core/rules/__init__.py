"""Rules: which arms to pull next.

A file here is all that a rule takes: it defines `choose(spec, state, rng)` with
`@rule()` and lists the methods that use it in `METHODS`. One of another package is
the same, with its `Method` as an entry point of the group `standout.methods`
(docs/rules.md).
"""
