"""The addresses of the API."""

from __future__ import annotations

import io
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from fastapi.testclient import TestClient

from standout.errors import StorageError
from tests.service.conftest import API, ARMS, Connect, begin

MEANS = {"ash": 0.0, "elm": 0.1, "fir": 0.2, "oak": 0.3, "yew": 5.0}


def reward(ticket: dict[str, object]) -> float:
    return MEANS[str(ticket["arm"])] + 0.03 * (int(str(ticket["ticket"])) * 37 % 11 - 5) / 5


def test_a_study_from_beginning_to_end(connect: Connect, place: str) -> None:
    client = connect(place)
    assert client.get(f"{API}/health").json()["status"] == "ok"
    url = begin(client)
    tickets = client.post(f"{url}/ask", json={"n": 5}).json()["tickets"]
    assert [ticket["arm"] for ticket in tickets] == ARMS
    for _ in range(500):
        rewards = [{"ticket": t["ticket"], "reward": reward(t)} for t in tickets]
        told = client.post(f"{url}/tell", json={"rewards": rewards, "ask": 3})
        assert told.status_code == 200, told.text
        assert told.json()["counted"] == len(rewards)
        tickets = told.json()["tickets"]
        if not tickets:
            break
    assert told.json()["stopped"] is True
    status = client.get(url).json()
    assert status["outliers"] == ["yew"]
    assert status["reason"] == "decided"
    found = client.get(f"{url}/identification").json()
    assert found["outliers"] == ["yew"]
    assert found["pulls"] == sum(found["pulls_by_arm"]) == status["pulls"]
    (row,) = client.get(f"{API}/studies").json()["studies"]
    assert (row["name"], row["outliers"], row["stopped"]) == ("trees", 1, True)
    lines = client.get(f"{url}/export").text.splitlines()
    assert len(lines) == 1 + status["pulls"]
    assert len(client.get(f"{url}/export?form=json").json()) == status["pulls"]


def test_views_and_updates(client: TestClient) -> None:
    url = begin(client)
    full = client.get(f"{url}/view").json()
    assert (full["full"], full["names"], full["estimate"]) == (True, ARMS, [None] * 5)
    client.post(f"{url}/tell", json={"rewards": [{"arm": "fir", "reward": 0.5}]})
    part = client.get(f"{url}/view?since={full['seq']}").json()
    assert (part["full"], part["positions"], part["estimate"]) == (False, [2], [0.5])
    assert part["counts"]["pulls"] == 1
    assert client.get(f"{url}/view?since={part['seq']}").json()["positions"] == []
    assert client.get(f"{url}/view?since=999999").json()["full"] is True


def test_telling_is_idempotent_by_ticket(connect: Connect, place: str) -> None:
    client = connect(place)
    url = begin(client)
    (ticket,) = client.post(f"{url}/ask", json={"worker": "w"}).json()["tickets"]
    body = {
        "rewards": [{"ticket": ticket["ticket"], "arm": ticket["arm"], "reward": 0.5}],
        "ask": 2,
        "worker": "w",
    }
    first = client.post(f"{url}/tell", json=body).json()
    again = client.post(f"{url}/tell", json=body).json()
    assert (first["counted"], again["counted"], again["repeated"]) == (1, 0, 1)
    assert again["tickets"] == first["tickets"]
    body["rewards"][0]["reward"] = 0.75  # type: ignore[index]
    refused = client.post(f"{url}/tell", json=body)
    assert refused.status_code == 409
    assert refused.json()["error"]["code"] == "told"
    assert refused.json()["error"]["detail"] == {"index": 0}
    assert "recorded reward 0.5" in refused.json()["error"]["message"]
    assert client.get(url).json()["pulls"] == 1
    # A worker that lost an answer says what it has, and gets the rest again.
    numbers = [t["ticket"] for t in first["tickets"]]
    lost = client.post(f"{url}/ask", json={"worker": "w", "known": numbers[:1]}).json()
    assert lost["tickets"] == first["tickets"][1:]


@pytest.mark.parametrize(
    ("rewards", "code"),
    [
        ([{"ticket": 99, "reward": 0.5}], "ticket"),
        ([{"arm": "palm", "reward": 0.5}], "ticket"),
        ([{"ticket": 1, "arm": "elm", "reward": 0.5}], "ticket"),
        ([{"reward": 0.5}], "invalid"),
        ([{"ticket": 1}], "invalid"),
        ([{"ticket": "1", "reward": 0.5}], "invalid"),
        ([{"ticket": 1, "reward": "0.5"}], "invalid"),
        ([{"ticket": 1, "reward": True}], "invalid"),
        ([{"ticket": 1, "reward": 1e999}], "invalid"),
        ([{"ticket": 2**63, "reward": 0.5}], "invalid"),
        ([{"ticket": 1, "reward": 0.5, "colour": "red"}], "invalid"),
        ([], "invalid"),
    ],
)
def test_one_bad_reward_and_none_is_counted(
    client: TestClient, rewards: list[dict[str, object]], code: str
) -> None:
    url = begin(client)
    client.post(f"{url}/ask", json={"n": 2})
    good = [{"ticket": 2, "reward": 0.5}] if rewards else []
    text = json.dumps({"rewards": [*good, *rewards]})
    sent = {"Content-Type": "application/json"}
    answer = client.post(f"{url}/tell", content=text, headers=sent)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, code)
    if code != "invalid":
        assert answer.json()["error"]["detail"] == {"index": 1}
    assert client.get(url).json()["pulls"] == 0


def test_rewards_that_the_noise_cannot_give(client: TestClient) -> None:
    url = begin(client, noise="bernoulli")
    answer = client.post(f"{url}/tell", json={"rewards": [{"arm": "ash", "reward": 0.5}]})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "reward")
    assert "neither 0 nor 1" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"noise": "loud"}, 422),
        ({"arms": ["a", "b"]}, 422),
        ({"arms": ["a", "b", "a"]}, 422),
        ({"arms": ["a", "b", ""]}, 422),
        ({"name": "a/b"}, 422),
        ({"name": ".."}, 422),
        ({"name": ""}, 422),
        ({"method": "magic"}, 422),
        ({"k": 0.5}, 422),
        ({"k_low": 2.0}, 422),
        ({"budget": 0}, 422),
        ({"items": {"palm": {"text": "x"}}}, 422),
        ({"page": {"buttons": [{"label": "x", "value": float(10**9)}]}, "noise": "bernoulli"}, 422),
        ({"name": "there"}, 409),
    ],
)
def test_studies_that_cannot_begin(
    client: TestClient, changes: dict[str, object], status: int
) -> None:
    begin(client, "there")
    body = {"name": "new", "arms": ARMS, "noise": "gaussian:1", **changes}
    answer = client.post(f"{API}/studies", json=body)
    assert answer.status_code == status, answer.text
    assert answer.json()["error"]["message"]
    assert len(client.get(f"{API}/studies").json()["studies"]) == 1


def test_pages_of_studies(connect: Connect, place: str) -> None:
    client = connect(place)
    names = [f"study {i}" for i in range(5)]
    for name in names:
        begin(client, name)
    found, after = [], None
    while True:
        query = {"limit": 2} | ({"after": after} if after else {})
        page = client.get(f"{API}/studies", params=query).json()
        found += [row["name"] for row in page["studies"]]
        after = page["next"]
        if after is None:
            break
        assert len(page["studies"]) == 2
    assert found == names
    gone = client.get(f"{API}/studies", params={"after": "nothing"}).json()
    assert gone == {"studies": [], "next": None}


def test_the_table_of_arms(client: TestClient) -> None:
    arms = [f"tree {i}" for i in range(25)] + ["Öl", "öl and more"]
    url = begin(client, arms=arms)
    client.post(f"{url}/tell", json={"rewards": [{"arm": "tree 3", "reward": 0.25}]})
    client.post(f"{url}/pause", json={"arm": "tree 4", "reason": "fallen"})
    found, after = [], None
    while True:
        query = {"limit": 10} | ({"after": after} if after is not None else {})
        page = client.get(f"{url}/arms", params=query).json()
        found += page["arms"]
        after = page["next"]
        if after is None:
            break
    assert [row["arm"] for row in found] == arms
    assert page["found"] == 27
    assert (found[3]["estimate"], found[3]["pulls"], found[3]["lower"]) == (0.25, 1, None)
    assert found[4]["paused"] == "fallen"
    search = client.get(f"{url}/arms", params={"search": "ÖL"}).json()
    assert [row["arm"] for row in search["arms"]] == ["Öl", "öl and more"]
    assert client.get(f"{url}/arms?verdict=outlier").json()["found"] == 0
    assert client.get(f"{url}/arms?verdict=undecided").json()["found"] == 27
    assert client.get(f"{url}/arms?verdict=odd").status_code == 422
    assert client.get(f"{url}/arms?after=999").json()["arms"] == []


def test_looking_while_it_goes_on(client: TestClient) -> None:
    url = begin(client, budget=500)
    assert client.get(f"{url}/forecast").json() is None
    assert client.get(f"{url}/trace").json()["pulls"] == []
    ahead = client.get(f"{url}/next").json()["next"]
    assert {row["why"] for row in ahead} == {"first pulls"}
    tickets = client.post(f"{url}/ask", json={"n": 5}).json()["tickets"]
    for ticket in tickets[:2]:
        body = {"ticket": ticket["ticket"], "reason": f"broke {ticket['arm']}"}
        assert client.post(f"{url}/fail", json=body).json() == {"done": True}
    failures = client.get(f"{url}/failures?limit=1").json()
    assert [f["reason"] for f in failures["failures"]] == ["broke elm"]
    older = client.get(f"{url}/failures?limit=1&after={failures['next']}").json()
    assert ([f["reason"] for f in older["failures"]], older["next"]) == (["broke ash"], None)
    assert len(client.get(f"{url}/pending").json()["pending"]) == 3
    rest = [t["ticket"] for t in tickets[2:]]
    assert client.post(f"{url}/renew", json={"tickets": rest, "lease": 5.0}).status_code == 200
    assert client.post(f"{url}/release", json={"tickets": rest}).status_code == 200
    again = client.post(f"{url}/ask", json={"n": 3}).json()["tickets"]
    assert [t["arm"] for t in again] == [t["arm"] for t in tickets[2:]]
    rewards = [{"arm": arm, "reward": MEANS[arm]} for arm in ARMS] * 2
    client.post(f"{url}/tell", json={"rewards": rewards})
    # What was told without asking waits for the pulls that are out.
    waiting = client.get(url).json()["waiting"]
    assert [(one["arm"], one["rewards"]) for one in waiting] == [(t["arm"], 2) for t in again]
    rewards = [{"ticket": t["ticket"], "reward": MEANS[t["arm"]]} for t in again]
    client.post(f"{url}/tell", json={"rewards": rewards})
    assert client.get(url).json()["waiting"] == []
    forecast = client.get(f"{url}/forecast").json()
    assert 0 <= forecast["lower"] <= forecast["pulls_left"] <= forecast["upper"]
    trace = client.get(f"{url}/trace").json()
    assert trace["pulls"] == [13]
    assert trace["lower_low"] == [None]
    for path in ("pause", "resume"):
        answer = client.post(f"{url}/{path}", json={"arm": "palm"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "study")
    assert client.post(f"{url}/resume", json={"arm": "ash"}).status_code == 200


def test_items_and_page(client: TestClient) -> None:
    page = {"question": "Tall?", "buttons": [{"label": "yes", "value": 1.0, "key": "y"}]}
    items = {"ash": {"text": "An ash"}}
    url = begin(client, page=page, items=items, noise="bernoulli")
    assert client.get(f"{url}/page").json() == {"page": page}
    tickets = client.post(f"{url}/ask", json={"n": 2, "items": True}).json()["tickets"]
    assert [ticket["item"] for ticket in tickets] == [{"text": "An ash"}, None]
    body = {"rewards": [{"ticket": 1, "reward": 1.0}], "ask": 1, "items": True}
    assert "item" in client.post(f"{url}/tell", json=body).json()["tickets"][0]


def test_exports(client: TestClient) -> None:
    url = begin(client, "träume & more")
    client.post(f"{url}/tell", json={"rewards": [{"arm": arm, "reward": 0.5} for arm in ARMS]})
    answer = client.get(f"{url}/export?form=csv")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    disposition = answer.headers["content-disposition"]
    assert 'filename="tr_ume___more.csv"' in disposition
    assert "filename*=UTF-8''tr%C3%A4ume%20%26%20more.csv" in disposition
    table = pyarrow.parquet.read_table(io.BytesIO(client.get(f"{url}/export?form=parquet").content))
    assert table.column("arm").to_pylist() == ARMS
    assert client.get(f"{url}/export?form=xls").status_code == 422


def test_the_report_is_a_file_to_keep(client: TestClient) -> None:
    url = begin(client)
    client.post(f"{url}/tell", json={"rewards": [{"arm": arm, "reward": 0.5} for arm in ARMS]})
    shown = client.get(f"{url}/report")
    assert "content-disposition" not in shown.headers
    policy = shown.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "Download this report" in shown.text
    answer = client.get(f"{url}/report?download=true")
    assert "Download this report" not in answer.text
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert 'attachment; filename="trees.html"' in answer.headers["content-disposition"]
    assert answer.text.lstrip().lower().startswith("<!doctype html>")


def test_a_database_that_is_away(
    client: TestClient, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = begin(client)

    def busy(*_: object, **__: object) -> None:
        raise StorageError(f"{file} was busy for 60 s")

    monkeypatch.setattr("standout.study.transaction.Memory.in_one_transaction", busy)
    answer = client.post(f"{url}/ask", json={})
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "storage")
    assert answer.headers["retry-after"] == "2"
    assert file not in answer.text


def test_the_description_names_every_error(client: TestClient) -> None:
    described = client.get(f"{API}/openapi.json").json()
    wanted = {"400", "401", "403", "404", "405", "409", "413", "415", "421", "422", "429", "500"}
    for path, operations in described["paths"].items():
        assert path.startswith(API)
        for operation in operations.values():
            assert wanted <= set(operation["responses"])
            ref = operation["responses"]["422"]["content"]["application/json"]["schema"]["$ref"]
            assert ref.endswith("/ErrorBody")
    assert described["components"]["schemas"]["Tell"]["examples"]
    assert client.get("/docs").status_code == 404


def test_every_address_is_in_the_documentation(client: TestClient) -> None:
    text = (Path(__file__).parents[3] / "docs" / "service.md").read_text(encoding="utf-8")
    for path in client.get(f"{API}/openapi.json").json()["paths"]:
        last = path.rpartition("/")[2].replace("{name}", "studies/NAME")
        assert f"/{last}" in text, path


def test_many_requests_at_once_share_transactions(client: TestClient) -> None:
    """Side by side, each gets its own tickets, and a bad one does not hurt the others."""
    url = begin(client)

    def work(number: int) -> list[int]:
        if number % 5 == 4:
            bad = {"rewards": [{"ticket": 10**6 + number, "reward": 0.0}]}
            assert client.post(f"{url}/tell", json=bad).status_code == 422
            return []
        body = {"n": 2, "worker": f"w{number}"}
        asked = client.post(f"{url}/ask", json=body).json()["tickets"]
        rewards = [{"ticket": t["ticket"], "reward": 0.1} for t in asked]
        told = client.post(f"{url}/tell", json={"rewards": rewards, "worker": f"w{number}"})
        assert told.json()["counted"] == 2
        return [t["ticket"] for t in asked]

    with ThreadPoolExecutor(8) as pool:
        numbers = [n for part in pool.map(work, range(30)) for n in part]
    assert len(numbers) == len(set(numbers)) == 48
    assert client.get(url).json()["pulls"] == 48


def test_a_csv_download_is_safe_in_a_spreadsheet(client: TestClient) -> None:
    url = begin(client)
    evil = "=cmd|' /C calc'!A0"
    body = {"rewards": [{"arm": "ash", "reward": 0.5}], "worker": evil}
    assert client.post(f"{url}/tell", json=body).status_code == 200
    safe, raw = (client.get(f"{url}/export?form=csv{tail}").text for tail in ("", "&raw=true"))
    assert f",'{evil}," in safe
    assert f",{evil}," in raw
    assert client.get(f"{url}/export?form=json").json()[0]["worker"] == evil


def test_many_rewards_are_checked_as_few_are(client: TestClient) -> None:
    """They are read beside the event loop, with the same answers."""
    path = begin(client)
    good = {"arm": "ash", "reward": 0.5}
    bad: list[Any] = [{"reward": 0.5}, {"arm": "ash"}, {"arm": "ash", "reward": "1"}, 7, None,
                      {"arm": "ash", "reward": 0.5, "more": 1}]  # fmt: skip
    for wrong in bad:
        few = client.post(f"{path}/tell", json={"rewards": [good] * 3 + [wrong]})
        many = client.post(f"{path}/tell", json={"rewards": [good] * 1700 + [wrong]})
        assert (few.status_code, many.status_code) == (422, 422)
        assert many.json()["error"]["message"] == few.json()["error"]["message"].replace(
            "rewards.3", "rewards.1700"
        )
    too_many = client.post(f"{path}/tell", json={"rewards": [good] * 50_001})
    assert too_many.status_code == 422
    kind = {"Content-Type": "application/json"}
    for text, status in ((b"[" * 200_000, 400), (b'{"rewards": [' + b"1," * 100_000, 422)):
        assert client.post(f"{path}/tell", content=text, headers=kind).status_code == status
    assert client.get(path).json()["pulls"] == 0
    told = client.post(f"{path}/tell", json={"rewards": [good] * 5000})
    assert told.json()["counted"] == 5000
