"""What surrounds the loading of a kernel: to say that it takes long, and to spare what it can.

Nothing here is seen by a compiler, so that it does not name the cache.
"""

from __future__ import annotations

import logging
import math
import sys
import time
from importlib.util import find_spec
from typing import Any

_LOGGER = logging.getLogger("standout")
_WORDS = "compiling what this method and noise need, once per version; some seconds"
_PAUSE = 10.0
"""Seconds without compilation after which more of it is news."""
_last_miss = -math.inf
_ARRAYS = "numba.np.arraymath"


def tell_of_waiting() -> None:
    """Say that something is being compiled, once for all that is compiled in a row."""
    global _last_miss
    before, _last_miss = _last_miss, time.monotonic()
    if _last_miss - before < _PAUSE:
        return
    _LOGGER.info(_WORDS)
    if sys.stderr.isatty() or "ipykernel" in sys.modules:
        print(f"standout: {_WORDS}", file=sys.stderr, flush=True)


def put_off_linear_algebra() -> None:
    """Let Numba import SciPy when a kernel multiplies matrices, and not before.

    Its array functions ask, as they are imported, whether there is a BLAS, by importing
    all of `scipy.linalg`: a third of a second, for what no kernel of ours does.
    To be called before the first kernel is loaded; later, and again, it does nothing.
    Kernels of others find what they would have found.
    """
    if hasattr(sys.modules.get(_ARRAYS), "_HAVE_BLAS") or find_spec("scipy") is None:
        return
    from numba.np import linalg

    ensure: Any = getattr(linalg, "ensure_blas", None)
    if ensure is None or hasattr(ensure, "puts_off"):
        return

    def ensure_blas() -> None:
        """Numba's own, but while the array functions are imported it only says yes."""
        if hasattr(sys.modules.get(_ARRAYS), "_HAVE_BLAS"):
            ensure()

    vars(ensure_blas)["puts_off"] = True
    linalg.ensure_blas = ensure_blas
