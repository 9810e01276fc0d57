"""Short names for the array types of the kernels."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Codes = NDArray[np.int8]
Array = NDArray[Any]
FloatRows = Annotated[NDArray[np.float64], 2]
FlagRows = Annotated[NDArray[np.bool_], 2]
IntRows = Annotated[NDArray[np.int64], 2]
FloatBlocks = Annotated[NDArray[np.float64], 3]
FlagBlocks = Annotated[NDArray[np.bool_], 3]
