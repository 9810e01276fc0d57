"""The chance of each arm to stand out, by empirical Bayes: an estimate, never a certificate.

Nothing is imported here: most commands on a study need only know whether a look is due
(`until`), and what looks (`estimate`) takes a while to import.
"""
