"""Check a built site: every link, anchor and picture exists, and all of them are local.

    python tools/check_site.py build/docs

Sphinx checks only the links between pages that it made itself. This tool reads the HTML and the
style sheets, as a browser does. Pages may link to other sites, but they may not load anything from
them: no style, font, script or picture.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {("img", "src"), ("script", "src"), ("link", "href"), ("source", "src"), ("iframe", "src")}
STYLES = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")


class Page(HTMLParser):
    """The anchors and the links of one page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[tuple[str, bool]] = []  # address, and whether a browser loads it
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value is not None}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        for name in ("href", "src"):
            if name in given:
                # A page may name its address for search engines; no browser loads it.
                is_loaded = (tag, name) in LOADED and given.get("rel") != "canonical"
                self.links.append((given[name], is_loaded))


def faults(folder: Path) -> Iterator[str]:
    """The faults of the site, one line each."""
    pages = {path.resolve(): Page(path.read_text("utf-8")) for path in folder.rglob("*.html")}
    if not pages:
        yield f"{folder}: no page"
    for path, page in sorted(pages.items()):
        for address, is_loaded in page.links:
            if fault := _fault(path, address, is_loaded, pages):
                yield f"{path.relative_to(folder.resolve())}: {address}: {fault}"
    for path in sorted(folder.rglob("*.css")):
        for found in STYLES.finditer(path.read_text("utf-8")):
            address = found.group(1) or found.group(2)
            if fault := _fault(path.resolve(), address, True, pages):
                yield f"{path.relative_to(folder)}: {address}: {fault}"


def _fault(path: Path, address: str, is_loaded: bool, pages: dict[Path, Page]) -> str | None:
    parts = urlsplit(address)
    if parts.scheme == "data":
        return None
    if parts.scheme or parts.netloc:
        return "is loaded from another site" if is_loaded else None
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.exists():
        return "no such file"
    anchor = unquote(parts.fragment)
    if anchor and target in pages and anchor not in pages[target].anchors:
        return "no such anchor"
    return None


def main() -> None:
    folder = Path(sys.argv[1])
    wrong = list(faults(folder))
    print(*wrong, sep="\n", end="\n" if wrong else "")
    if wrong:
        sys.exit(f"{len(wrong)} dead or foreign links in {folder}")


if __name__ == "__main__":
    main()
