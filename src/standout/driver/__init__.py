"""Measuring for a run or a study: with your function, a program, or the workers of a cluster."""
