"""Items and their pictures over HTTP: who gets them, and what else nobody gets."""

from __future__ import annotations

import base64
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from standout import Problem, Study
from standout.service.routes.views import list_items
from tests.pictures.files import png
from tests.service.conftest import API, ARMS, Connect, bearer, new_token

COIN = Problem(noise="bernoulli", k=2)


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    here = tmp_path / "pictures"
    here.mkdir()
    for name in ("ash 1.png", "elm.png", "other.png"):
        (here / name).write_bytes(png())
    (tmp_path / "secret.png").write_bytes(png())
    (here / "out.png").symlink_to(tmp_path / "secret.png")
    return here


@pytest.fixture
def study(file: str) -> Study:
    items = {"ash": {"image": "/files/ash%201.png"}, "elm": {"image": "/files/elm.png"}}
    return Study.create(file, ARMS, COIN, name="trees", items=items)


def test_a_picture_is_a_picture_and_nothing_else(
    connect: Connect, file: str, pictures: Path, study: Study
) -> None:
    client = connect(file, files=str(pictures))
    answer = client.get("/files/ash%201.png")
    assert answer.status_code == 200
    assert answer.content == png()
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]
    assert "private" in answer.headers["cache-control"]


@pytest.mark.parametrize(
    "path",
    [
        "../secret.png",
        "%2e%2e/secret.png",
        "..%2fsecret.png",
        "..%5csecret.png",
        "%2fetc%2fpasswd.png",
        "out.png",
        "elm.png%00.png",
        "elm.png/",
        "elm.png?../secret.png%00",
        "",
        ".",
        "%ff%fe.png",
    ],
)
def test_nothing_outside_the_folder(connect: Connect, file: str, pictures: Path, path: str) -> None:
    answer = connect(file, files=str(pictures)).get(f"/files/{path}")
    if answer.status_code == 200:  # A query is no part of a path.
        assert path.startswith("elm.png?")
        assert answer.content == png()
        return
    assert answer.status_code in (404, 405)
    assert "secret" not in answer.text
    assert str(pictures) not in answer.text


def test_without_a_folder_there_are_none(client: TestClient) -> None:
    answer = client.get("/files/elm.png")
    assert answer.status_code in (404, 405)
    assert "--files" in answer.json()["error"]["message"]


def test_a_token_for_one_study_gets_the_pictures_of_its_items(
    connect: Connect, file: str, pictures: Path, study: Study
) -> None:
    Study.create(file, ARMS, COIN, name="others").close()
    tokens = [
        tuple(bearer(new_token(file, role, name)) for name in ("trees", "others", None))
        for role in ("rater", "viewer", "worker", "owner")
    ]
    client = connect(file, files=str(pictures), require_token=True)
    assert client.get("/files/elm.png").status_code == 401
    for own, other, anywhere in tokens:
        for path in ("ash%201.png", "elm.png"):
            assert client.get(f"/files/{path}", headers=own).status_code == 200
            assert client.get(f"/files/{path}", headers=other).status_code == 404
        assert client.get("/files/other.png", headers=own).status_code == 404
        assert client.get("/files/other.png", headers=anywhere).status_code == 200


def test_items_come_for_the_arms_in_sight(client: TestClient, file: str) -> None:
    items = {"ash": {"text": "An ash"}, "oak": {"text": "x" * 90_000, "html": "<b>"}}
    Study.create(file, ARMS, COIN, name="trees", items=items).close()
    address = f"{API}/studies/trees/items"
    found = client.get(f"{address}?positions=3&positions=0&positions=1&positions=99").json()
    assert [item["arm"] for item in found["items"]] == ["oak", "ash"]
    assert found["items"][1] == {
        "position": 0, "arm": "ash", "text": "An ash", "image": None, "html": None,
    }  # fmt: skip
    assert (found["left"], found["total"]) == ([], 2)
    many = "&".join(f"positions={place}" for place in range(201))
    assert client.get(f"{address}?{many}").status_code == 422
    assert client.get(f"{address}?positions=-1").status_code == 422
    with Study.open(file, "trees") as study:
        cut = list_items(study, [3, 0], largest=1000)
        assert ([item.arm for item in cut.items], cut.left) == (["oak"], (0,))


def test_an_arm_over_its_pulls(client: TestClient, file: str) -> None:
    with Study.create(file, ARMS, COIN, name="trees") as study:
        study.tell_many([(arm, float(i % 2)) for i in range(8) for arm in ARMS], worker="ada")
        found = client.get(f"{API}/studies/trees/arm?position=2").json()
        assert found["arm"] == ARMS[2]
        assert found["pulls"][-1] == 8
        assert found["scale"]["low"] < found["mean"][-1] < found["scale"]["high"]
        assert found["workers"] == [{"worker": "ada", "rewards": 8, "mean": 0.5}]
    assert client.get(f"{API}/studies/trees/arm?position=5").status_code == 404
    assert client.get(f"{API}/studies/none/arm?position=0").status_code == 404


def test_a_dashboard_may_load_the_pictures_of_its_items(connect: Connect, file: str) -> None:
    items = {"ash": {"image": "https://a.example/x.png"}, "elm": {"image": "data:image/png,A"}}
    Study.create(file, ARMS, COIN, name="trees", items=items).close()
    client = connect(file, require_token=True)
    token = bearer(new_token(file, "viewer", "trees"))
    for headers, allowed in ((token, "'self' data: https://a.example;"), ({}, "'self';")):
        answer = client.get("/study/trees", headers=headers)
        assert f"img-src {allowed}" in answer.headers["content-security-policy"]


def test_an_owner_uploads(connect: Connect, file: str, pictures: Path, study: Study) -> None:
    tokens = {role: bearer(new_token(file, role)) for role in ("owner", "worker", "viewer")}
    own = bearer(new_token(file, "owner", "trees"))
    client = connect(file, files=str(pictures), require_token=True)
    body = {"name": "a new.png", "data": base64.b64encode(png()).decode()}
    for headers in ({}, tokens["worker"], tokens["viewer"], own):
        assert client.post("/files", json=body, headers=headers).status_code in (401, 403)
    made = client.post("/files", json=body, headers=tokens["owner"])
    assert made.json() == {"image": "/files/a%20new.png"}
    assert client.get("/files/a%20new.png", headers=tokens["viewer"]).content == png()
    for bad in ({"name": "../x.png"}, {"data": "no base64!"}, {"data": "AAAA"}):
        answer = client.post("/files", json=body | bad, headers=tokens["owner"])
        assert answer.status_code in (404, 422), bad
    assert not (pictures.parent / "x.png").exists()
    assert connect(file).post("/files", json=body, headers=tokens["owner"]).status_code == 404


SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
HUGE = base64.b64encode(png() + bytes(8_000_000)).decode()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("drawn.svg", SVG),
        ("drawn.png", SVG),
        ("page.png", b"<html><script>alert(1)</script>"),
        ("other.jpg", png()),
        ("a/b.png", png()),
        ("..png", png()),
        (".hidden.png", png()),
        ("a\\b.png", png()),
        ("C:x.png", png()),
        ("new\nline.png", png()),
        ("nul\x00.png", png()),
        ("\u202egnp.png", png()),
        ("x" * 197 + ".png", png()),
        ("x.html", png()),
        ("x.png.html", png()),
        ("empty.png", b""),
        ("huge.png", HUGE),
    ],
)
def test_what_is_no_picture_is_not_kept(
    connect: Connect, file: str, pictures: Path, name: str, data: bytes | str
) -> None:
    before = sorted(pictures.iterdir())
    text = data if isinstance(data, str) else base64.b64encode(data).decode()
    answer = connect(file, files=str(pictures)).post("/files", json={"name": name, "data": text})
    assert answer.status_code in (404, 413, 422), answer.text
    assert len(answer.text) < 1000
    assert sorted(pictures.iterdir()) == before


def test_two_upload_one_name_at_once(connect: Connect, file: str, pictures: Path) -> None:
    """One of them is kept whole, whoever sent the other hears so, and nothing is left behind."""
    client = connect(file, files=str(pictures))
    several = [base64.b64encode(png(size=size)).decode() for size in range(20, 28)]

    def send(data: str) -> int:
        return client.post("/files", json={"name": "one.png", "data": data}).status_code

    with ThreadPoolExecutor(8) as pool:
        codes = list(pool.map(send, several))
    assert sorted(codes) == [201, *[422] * 7]
    kept = base64.b64encode((pictures / "one.png").read_bytes()).decode()
    assert kept == several[codes.index(201)]
    assert not [path for path in pictures.iterdir() if path.name.startswith(".")]
    # The same again is no other picture.
    assert send(kept) == 201
    # Nor is what another put there as a link written through.
    assert client.post("/files", json={"name": "out.png", "data": several[0]}).status_code == 404
    assert (pictures.parent / "secret.png").read_bytes() == png()
