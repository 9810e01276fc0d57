"""The figures of the paper, one module each; `figure` says what every one of them offers."""
