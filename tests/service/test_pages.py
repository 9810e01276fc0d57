"""The pages' own files: what they may load, how long they are kept, what they must not contain."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

import standout.service
from standout.pictures import marks
from standout.service.pages import assets, modules_of
from tests.service.conftest import API, Connect, bearer, new_token

HERE = Path(standout.service.__file__).parent
PAGES = ["/", "/study/any", "/rate/any", "/compare"]


@pytest.mark.parametrize("address", PAGES)
def test_a_page_allows_nothing_inline_and_no_other_host(client: TestClient, address: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 200
    policy = dict(
        part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; ")
    )
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["img-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert "no-cache" in answer.headers["cache-control"]
    assert not re.search(r"<script(?![^>]*src=)|<style|\sstyle=|\son\w+=|https?://", answer.text)


@pytest.mark.parametrize("address", PAGES)
def test_every_file_of_a_page_is_there_and_kept(client: TestClient, address: str) -> None:
    found = re.findall(r'(?:src|href)="(/static/[^"]+)"', client.get(address).text)
    assert len(found) > 5
    for file in found:
        answer = client.get(file)
        assert answer.status_code == 200, file
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["x-content-type-options"] == "nosniff"
    other = re.sub(r"/static/\w+/", "/static/older/", found[0])
    assert client.get(other).headers["cache-control"] == "no-cache"
    assert client.get("/static/x/../pages.py").status_code == 404
    assert client.get("/static/x/nothing.js").status_code == 404


def test_scripts_put_nothing_into_pages_as_markup() -> None:
    forbidden = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|https?://(?!www\.w3\.org)"
    )
    for path in sorted((HERE / "static").glob("*.js")):
        assert not forbidden.search(path.read_text(encoding="utf-8")), path.name


def test_every_import_is_preloaded() -> None:
    _, files = assets()
    for name in ("home.js", "study.js", "rate.js"):
        for module in modules_of(name):
            assert module in files
    assert "rows.js" in modules_of("study.js")
    assert "rows.js" not in modules_of("rate.js")


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_words_and_marks_stand_out_from_their_ground(theme: str) -> None:
    text = (HERE / "static" / "base.css").read_text(encoding="utf-8")
    light, dark = re.findall(r":root[^{]*\{([^}]+)\}", text)[:2]
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", light if theme == "light" else dark))
    colours |= marks.colours(theme)
    mixed = (
        round(0.1 * int(colours["undecided"][place : place + 2], 16)
              + 0.9 * int(colours["card"][place : place + 2], 16))
        for place in (1, 3, 5)
    )  # fmt: skip
    colours["going"] = "#" + "".join(f"{part:02x}" for part in mixed)
    for ground in ("card", "ground", "raised"):
        for ink in ("ink", "muted", "accent", "outlier", "undecided", "normal"):
            assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
        assert contrast(colours["strong-line"], colours[ground]) >= 3
    for ink, ground in (
        ("on-accent", "accent"),
        ("warning", "warning-soft"),
        ("danger", "danger-soft"),
        ("undecided", "going"),
        ("danger", "card"),
        ("card", "ink"),
    ):
        assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)


def test_who_is_asking(connect: Connect, file: str) -> None:
    client = connect(file)
    nobody = {"role": "owner", "study": None, "token": False, "files": False, "parquet": True}
    assert client.get("/session").json() == nobody
    token = new_token(file, "viewer")
    client = connect(file)
    assert client.get("/session").json()["role"] is None
    known = client.get("/session", headers=bearer(token)).json()
    assert known == {
        "role": "viewer",
        "study": None,
        "token": True,
        "files": False,
        "parquet": True,
    }
    assert client.post("/arms", json={"text": "a"}, headers=bearer(token)).status_code == 403


def test_arms_are_read_as_the_command_line_reads_them(client: TestClient) -> None:
    text = '\ufeffarm,text,image\nash,"An ""ash""",/ash.png\nelm,,\n'
    assert client.post("/arms", json={"text": text}).json() == {
        "arms": ["ash", "elm"],
        "items": {"ash": {"text": 'An "ash"', "image": "/ash.png"}},
    }
    wrong = client.post("/arms", json={"text": "arm\nash\nash"})
    assert wrong.status_code == 422
    assert "line 3" in wrong.json()["error"]["message"]


def test_an_error_in_a_browsers_tab_is_a_page(client: TestClient) -> None:
    """A program gets JSON, a person with a browser words and a way back."""
    tab = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    for address in ("/nowhere", f"{API}/studies/%3Cb%3E{{words}}/report"):
        answer = client.get(address, headers=tab)
        assert answer.status_code == client.get(address).status_code == 404
        assert client.get(address).json()["error"]["message"]
        assert answer.headers["content-type"].startswith("text/html")
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "<h1>There is nothing here</h1>" in answer.text
        assert "{" not in answer.text
        assert "<b>" not in answer.text
    assert client.post("/nowhere", headers=tab).json()["error"]["code"]


def test_comments_are_not_sent() -> None:
    """The scripts that are sent have the lines of those that are read, without their comments."""
    _, files = assets()
    for path in (HERE / "static").glob("*.js"):
        sent, read = files[path.name].body.decode(), path.read_text(encoding="utf-8")
        assert sent.count("\n") == read.count("\n")
        assert "/**" not in sent
        assert not re.search(r"^\s*//", sent, re.MULTILINE)
        # A text over several lines could have one that looks like a comment.
        assert not [text for text in re.findall(r"`[^`]*`", read) if "\n" in text]


@pytest.mark.parametrize("path", ["/", "/compare", "/study/trees", "/rate/trees", "/api/v1/health"])
def test_only_the_head_of_a_page(client: TestClient, path: str) -> None:
    """What looks whether the service is there often asks for no more."""
    whole, head = client.get(path), client.head(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-type"] == whole.headers["content-type"]


def test_parquet_is_offered_only_where_it_can_be_written(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert client.get("/session").json()["parquet"] is True
    monkeypatch.setattr("standout.service.pages.find_spec", lambda name: None)
    assert client.get("/session").json()["parquet"] is False
