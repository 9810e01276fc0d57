"""What measures for a run or a study: your function, programs, workers of a cluster."""
