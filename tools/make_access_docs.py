"""Write the table of addresses and roles into docs/service.md, by trying every one.

Run it after a change to the service's addresses; a test checks that it is current.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.service.security.access_table import DOCS, refreshed


def main() -> None:
    DOCS.write_text(refreshed(DOCS.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"wrote {DOCS}")


if __name__ == "__main__":
    main()
