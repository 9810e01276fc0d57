"""Settings of all tests."""

from __future__ import annotations

import os

from hypothesis import settings

# The same examples in every run, so that a red build is red for everyone.
# HYPOTHESIS_PROFILE=search looks for new ones, at length.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("search", max_examples=3000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
