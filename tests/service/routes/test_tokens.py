"""Tokens over HTTP: who may make and revoke which."""

from __future__ import annotations

from fastapi.testclient import TestClient

from standout.study.storage.tokens import Role, Token
from standout.study.token_links import code_of, drawn, link_of
from tests.service.conftest import API, Connect, bearer, begin, new_token

TOKENS = f"{API}/tokens"


def test_made_used_and_revoked(connect: Connect, file: str) -> None:
    owner = bearer(new_token(file, "owner"))
    client = connect(file, require_token=True)
    client.headers.update(owner)
    begin(client)
    body = {"role": "rater", "study": "trees", "label": "office", "origin": "https://lab.example"}
    answer = client.post(TOKENS, json=body)
    assert answer.status_code == 201
    made = answer.json()
    assert made["link"] == f"https://lab.example/rate/trees#token={made['token']}"
    assert made["code"] == code_of(made["link"])
    rater = bearer(made["token"])
    assert client.post("/rate/trees/next", json={}, headers=rater).status_code == 200
    # Listed without its secret.
    listed = client.get(TOKENS)
    assert made["token"] not in listed.text
    assert [one["role"] for one in listed.json()["tokens"]] == ["owner", "rater"]
    number = made["made"]["id"]
    assert client.post(f"{TOKENS}/{number}/revoke").status_code == 200
    kept = client.get(TOKENS).json()["tokens"][1]
    who = f"owner:{owner['Authorization'].split('_')[1]}"
    assert kept["made_by"] == who
    assert kept["revoked_by"].startswith(who)
    assert client.post("/rate/trees/next", json={}, headers=rater).status_code == 401


def test_an_owner_of_one_study_makes_tokens_of_its_own(connect: Connect, file: str) -> None:
    everything = new_token(file, "owner")
    client = connect(file, require_token=True)
    for name in ("trees", "others"):
        answer = client.post(
            f"{API}/studies",
            json={"name": name, "arms": ["a", "b", "c"], "noise": "bernoulli"},
            headers=bearer(everything),
        )
        assert answer.status_code == 201
    mine = {"role": "owner", "study": "trees"}
    owner = bearer(client.post(TOKENS, json=mine, headers=bearer(everything)).json()["token"])
    client.headers.update(owner)
    assert client.post(TOKENS, json={"role": "viewer", "study": "trees"}).status_code == 201
    for study in ("others", None):
        assert client.post(TOKENS, json={"role": "rater", "study": study}).status_code == 403
    tokens = client.get(TOKENS).json()["tokens"]
    assert {one["study"] for one in tokens} == {"trees"}
    number = everything.split("_")[1]
    assert client.post(f"{TOKENS}/{number}/revoke").status_code == 404
    own = owner["Authorization"].split("_")[1]
    assert "your own" in client.post(f"{TOKENS}/{own}/revoke").json()["error"]["message"]


def test_the_first_token_is_an_owners(client: TestClient) -> None:
    begin(client)
    refused = client.post(TOKENS, json={"role": "rater", "study": "trees"})
    assert refused.status_code == 422
    assert "first" in refused.json()["error"]["message"]
    made = client.post(TOKENS, json={"role": "owner"})
    assert made.status_code == 201
    # The browser that made it is signed in by the answer: nothing it sends next is refused.
    assert client.get(TOKENS).status_code == 200
    more = client.post(TOKENS, json={"role": "viewer"})
    assert "set-cookie" not in more.headers
    # Others are asked for one, at once.
    client.cookies.clear()
    assert client.get(TOKENS).status_code == 401
    assert client.get(TOKENS, headers=bearer(made.json()["token"])).status_code == 200


def test_links_lead_nowhere_else(connect: Connect, file: str) -> None:
    owner = bearer(new_token(file, "owner"))
    client = connect(file)
    for origin in ("javascript:alert(1)", "https://a.example/x", "https://a b", "//a.example", ""):
        answer = client.post(TOKENS, json={"role": "viewer", "origin": origin}, headers=owner)
        assert answer.status_code == 422, origin


def test_a_code_is_drawn_with_its_border() -> None:
    link = link_of(Token("0" * 12, Role.VIEWER, "a/b", "", 0.0), "standout_x")
    assert link == "http://127.0.0.1:8000/study/a%2Fb#token=standout_x"
    # A phone that scanned this would look at itself.
    assert [code_of(link.replace("127.0.0.1", host)) for host in ("127.0.0.1", "[::1]")] == [
        None
    ] * 2
    code = code_of(link.replace("127.0.0.1", "lab.example"))
    assert code is not None
    assert {len(row) for row in code} == {len(code)}
    lines = drawn(code).splitlines()
    assert {len(line) for line in lines} == {len(code) + 8}
    assert set(lines[0]) == {"█"}
    assert len(lines) == (len(code) + 9) // 2
