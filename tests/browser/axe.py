"""axe-core in a page: what it finds wrong for people who use other means than eyes and a mouse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import axe_playwright_python
from playwright.sync_api import Page

SCRIPT = Path(axe_playwright_python.__file__).parent / "axe.min.js"
# Experimental rules and best practices among them; contrast of AA.
OPTIONS = {
    "resultTypes": ["violations"],
    "rules": {
        "label-content-name-mismatch": {"enabled": True},
        "target-size": {"enabled": True},
        "css-orientation-lock": {"enabled": True},
        "focus-order-semantics": {"enabled": True},
        "hidden-content": {"enabled": False},
    },
}


def violations(page: Page) -> list[str]:
    """What axe finds: the rule, and the first elements that break it."""
    # Not as an inline script, which the page's policy forbids.
    if page.evaluate("() => !window.axe"):
        page.evaluate(SCRIPT.read_text(encoding="utf-8"))
    found: dict[str, Any] = page.evaluate("(options) => axe.run(document, options)", OPTIONS)
    return [
        f"{one['id']}: {[node['target'] for node in one['nodes'][:3]]} "
        f"{one['nodes'][0].get('failureSummary', '')}"
        for one in found["violations"]
    ]
