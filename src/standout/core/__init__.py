"""What decides an arm: problem, noise, intervals, threshold, rules and the loop that uses them.

Pure: numpy and numba only, no files, no clock, no printing. `docs/design.md` has the map.
"""
