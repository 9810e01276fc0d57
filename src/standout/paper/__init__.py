"""The paper's experiments: each figure again, beside what the paper says about it."""
