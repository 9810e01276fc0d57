"""Arms, intervals and thresholds as pictures: one table of marks, one set of data."""
