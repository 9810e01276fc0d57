"""Measuring for a study: an arm's program or function, the loop around it, and `standout run`."""
