"""Packages that only some of standout needs, and what to install where one is missing."""

from __future__ import annotations

from importlib.util import find_spec

from standout.errors import MissingExtraError

EXTRAS = {
    "postgres": ("psycopg",),
    "serve": ("fastapi", "uvicorn", "httptools", "segno"),
    "paper": ("matplotlib",),
    "dask": ("distributed",),
    "parquet": ("pyarrow",),
}
"""What each extra of the package brings, as it is imported."""


def require(extra: str, purpose: str) -> None:
    """Raise a `MissingExtraError` unless all packages of `extra` are there; loads none of them.

    `purpose` begins the message: "a PostgreSQL database" needs the package psycopg.
    """
    for package in EXTRAS[extra]:
        if not _is_there(package):
            raise MissingExtraError(
                f"{purpose} needs the package {package}; "
                f"install it with: pip install 'standout[{extra}]'"
            )


def _is_there(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):  # Forbidden, or half loaded: it cannot be used.
        return False
