"""Which versions of Numba the private parts of its API are known to work with.

`dispatcher.py` and `linking.py` use names that Numba does not promise to keep. They are
imported only for the versions that our tests ran with. Any other version gets
`plain.py`: the same kernels through the public `numba.njit`, with the same results.
`structs.py` serves both. It uses `numba.extending` and the few names beside it
that packages with types of their own rely on.
"""

from __future__ import annotations

import os
import re

import numba

TESTED_FROM = (0, 68)
"""The first version of Numba that the tests ran with."""
TESTED_BELOW = (0, 69)
"""The first version that they did not; to raise it, run `tests/core/compile` with that version."""
FORCE_PLAIN = "STANDOUT_PLAIN_NUMBA"
"""The environment variable that, if it is 1, selects the public API for any version."""


def is_tested(version: str) -> bool:
    """Whether the private API of this version of Numba is known to work.

    Example:
        >>> is_tested("0.68.1"), is_tested("0.69.0rc1"), is_tested("1.0")
        (True, False, False)
    """
    numbers = tuple(int(number) for number in re.findall(r"\d+", version)[:2])
    return TESTED_FROM <= numbers < TESTED_BELOW


IS_PRIVATE_API_USED = is_tested(numba.__version__) and os.environ.get(FORCE_PLAIN) != "1"
"""Whether this process compiles kernels with Numba's private API."""

WARNING = (
    f"standout was not tested with Numba {numba.__version__}: "
    "its first start takes longer, its results are the same"
)
