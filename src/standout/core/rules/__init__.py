"""Rules: which arms to pull next.

A rule is one file in this folder: it defines `choose(spec, state, rng)` with `@rule()` and lists
its methods in `METHODS`. A rule of another package looks the same; its `Method` is an entry point
of the group `standout.methods` (docs/rules.md).
"""
