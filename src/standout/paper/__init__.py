"""The paper's experiments: each figure reproduced, beside the paper's claims."""
