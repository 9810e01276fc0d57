"""Tables of past rewards from browsers: the text of a CSV."""

from __future__ import annotations

import hashlib
import warnings

from standout.analysis.columns import Layout
from standout.analysis.tables import Rewards, Sums, read_csv_table
from standout.service.schemas import PastRewards


def read_past(body: PastRewards) -> tuple[Rewards | Sums, str]:
    """The rewards of a table, and an idempotency key made from it."""
    layout = Layout(
        arm=body.arm or None,
        value=body.value or None,
        separator=body.separator,
        decimal=body.decimal,
        drop_missing=body.drop_missing,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Blanks around names; the page shows the arms.
        found = read_csv_table(body.text.removeprefix("\ufeff"), body.label, layout)
    digest = hashlib.sha256(repr((layout, body.text)).encode()).hexdigest()
    return found, f"table {digest[:40]}"
