"""Slow, plain, obvious twins of every formula, written from the paper.

No numba, no array tricks: loops over Python floats and lists, one file per
topic. The kernels are compared with these.
"""
