"""Optional packages, and what to install if one is missing."""

from __future__ import annotations

from contextlib import suppress
from importlib.util import find_spec

from standout.errors import MissingExtraError

EXTRAS = {
    "postgres": ("psycopg",),
    "serve": ("fastapi", "uvicorn", "httptools", "segno"),
    "plot": ("matplotlib",),
    "paper": ("matplotlib",),
    "dask": ("distributed",),
    "parquet": ("pyarrow",),
}
"""The modules that each extra of the package provides."""


def require(extra: str, purpose: str) -> None:
    """Raise a `MissingExtraError` unless all packages of `extra` are installed; imports none.

    `purpose` begins the message, as in: "a PostgreSQL database" needs the package psycopg.
    """
    for package in EXTRAS[extra]:
        with suppress(ImportError, ValueError):  # Blocked, or partly loaded: it cannot be used.
            if find_spec(package) is not None:
                continue
        raise MissingExtraError(
            f"{purpose} needs the package {package}; "
            f"install it with: pip install 'standout[{extra}]'"
        )
