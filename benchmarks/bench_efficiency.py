"""The quick form of `efficiency.py`, for `make bench`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import efficiency

if __name__ == "__main__":
    efficiency.main(sys.argv[1:] or ["--quick"])
