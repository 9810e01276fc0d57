"""The addresses of the API."""

from __future__ import annotations

from fastapi.testclient import TestClient

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
