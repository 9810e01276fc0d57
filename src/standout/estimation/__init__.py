"""The chance of each arm to stand out, by empirical Bayes: an estimate, never a certificate.

This module imports nothing. Most commands on a study only need to know whether the chances are
due (`until`), and the computation (`estimate`) is slow to import.
"""
