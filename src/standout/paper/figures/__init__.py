"""The figures of the paper, one module each; `figure` has their common interface."""
