"""The log of a study: its chain of steps, worked out anew, verified, and as columns."""
