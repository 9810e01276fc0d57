"""The rating page's addresses: who gets which item, and that an answer counts once."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from standout import Problem
from standout.errors import ProblemError, RewardError
from standout.service.rating.questions import check_answer, image_policy, question_of
from standout.study import Study
from standout.study.rating import value_at
from standout.study.storage.store import Store
from tests.service.conftest import ARMS, Clock, Connect, bearer, new_token

COIN = Problem(noise="bernoulli", k=2)
B = {"label": "b", "value": 2}


@pytest.fixture
def study(file: str) -> Study:
    return Study.create(file, ARMS, COIN, name="trees")


def ask(client: TestClient, **body: Any) -> dict[str, Any]:
    answer = client.post("/rate/trees/next", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def tell(client: TestClient, ticket: int, value: float) -> Any:
    return client.post("/rate/trees/answer", json={"ticket": ticket, "value": value})


def test_the_same_ticket_until_it_is_answered(connect: Connect, place: str) -> None:
    study = Study.create(place, ARMS, COIN, name="trees")
    client = connect(place)
    first = ask(client)
    assert (first["state"], first["item"]) == ("item", {"text": "ash"})
    assert ask(client)["ticket"] == first["ticket"]
    second = tell(client, first["ticket"], 1).json()
    assert second["counted"] is True
    assert second["ticket"] != first["ticket"]
    for value in (1, 0):
        late = tell(client, first["ticket"], value).json()
        assert (late["counted"], late["ticket"]) == (False, second["ticket"])
    assert study.history()["status"].tolist() == ["counted"]
    assert ask(client)["answered"] == 1
    study.close()


def test_an_answer_is_one_transaction(
    connect: Connect, file: str, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the next item, even where others have to be looked through for it."""
    client = connect(file)
    found = ask(client)
    written: list[bool] = []
    write = Store.write

    def counted(self: Store, **options: Any) -> Any:
        written.append(True)
        return write(self, **options)

    monkeypatch.setattr(Store, "write", counted)
    for _ in range(3):
        found = tell(client, found["ticket"], 1).json()
        assert (found["state"], found["counted"]) == ("item", True)
    assert len(written) == 3
    skipped = client.post("/rate/trees/skip", json={"ticket": found["ticket"]})
    assert (skipped.status_code, len(written)) == (200, 4)
    assert study.verify().problems == ()


def test_two_raters_have_two_items(connect: Connect, file: str, study: Study) -> None:
    one, other = connect(file), connect(file)
    mine, theirs = ask(one), ask(other)
    assert mine["ticket"] != theirs["ticket"]
    stolen = tell(other, mine["ticket"], 1)
    assert (stolen.status_code, stolen.json()["error"]["code"]) == (403, "not_yours")
    assert study.status().pulls == 0
    other.post("/rate/trees/leave", json={"ticket": mine["ticket"]})
    assert ask(one)["ticket"] == mine["ticket"]
    one.post("/rate/trees/leave", json={"ticket": mine["ticket"]})
    assert study.status().expired == 1


def test_only_what_the_page_offers_is_taken(connect: Connect, file: str) -> None:
    scale = {"min": 1, "max": 7, "step": 1}
    Study.create(file, ARMS, Problem(noise="bounded:0,10"), name="trees", page={"scale": scale})
    client = connect(file)
    ticket = ask(client)["ticket"]
    for wrong in (0, 8, 1.5):
        refused = tell(client, ticket, wrong)
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "reward")
    assert tell(client, ticket, 7).status_code == 200


def test_consent_comes_first_and_cookies_later(connect: Connect, file: str) -> None:
    Study.create(file, ARMS, COIN, name="trees", page={"consent": "May we?"})
    client = connect(file)
    found = ask(client)
    assert (found["state"], found["consent"], found["answered"]) == ("consent", "May we?", 0)
    assert len(client.cookies) == 0
    answer = client.post("/rate/trees/next", json={"consent": True})
    assert answer.json()["state"] == "item"
    for cookie in answer.headers.get_list("set-cookie"):
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
    assert ask(client)["state"] == "item"


def test_who_may_rate(connect: Connect, file: str, study: Study) -> None:
    tokens = {role: new_token(file, role, "trees") for role in ("rater", "viewer", "worker")}
    everywhere = new_token(file, "rater")
    client = connect(file)
    assert client.post("/rate/trees/next", json={}).status_code == 401
    for role, status in (("viewer", 403), ("worker", 200), ("rater", 200)):
        answer = client.post("/rate/trees/next", json={}, headers=bearer(tokens[role]))
        assert answer.status_code == status, role
    for token, status in ((tokens["rater"], 403), (everywhere, 404)):
        answer = client.post("/rate/elms/next", json={}, headers=bearer(token))
        assert answer.status_code == status


def test_pictures_of_a_study_are_named_only_to_its_raters(connect: Connect, file: str) -> None:
    items = {arm: {"image": f"https://{arm}.example/x.png"} for arm in ARMS[:2]}
    Study.create(file, ARMS, COIN, name="trees", items=items)
    token = new_token(file, "rater", "trees")
    client = connect(file)
    assert "example" not in client.get("/rate/trees").headers["content-security-policy"]
    known = client.get("/rate/trees", headers=bearer(token)).headers["content-security-policy"]
    assert "img-src 'self' https://ash.example https://elm.example;" in known


@pytest.mark.parametrize(
    ("address", "allowed"),
    [
        ("https://a.example/x", "'self' https://a.example"),
        ("http://me:secret@a.example:8080/x", "'self' http://a.example:8080"),
        ("https://[::1]:8000/x", "'self' https://[::1]:8000"),
        ("https://bücher.example/x", "'self' https://xn--bcher-kva.example"),
        ("//a.example/x", "'self' a.example"),
        ("/x.png", "'self'"),
        ("data:image/png;base64,AA", "'self' data:"),
        ("https://a.example; script-src */x", "'self'"),
        ("https://a.example\r\nSet-Cookie: x/x", "'self'"),
        ("https://*/x", "'self'"),
    ],
)
def test_sources_of_pictures(address: str, allowed: str) -> None:
    assert image_policy([address]) == allowed


def test_very_many_hosts() -> None:
    assert image_policy(f"https://h{n}.example/x" for n in range(200)) == "'self' https:"


def test_a_number_of_steps_has_exact_ends(file: str) -> None:
    scale = {"min": 0, "max": 1, "steps": 6, "high_label": "top"}
    study = Study.create(file, ARMS, Problem(noise="bounded:0,1"), page={"scale": scale})
    asked = question_of(study)
    values = [button["value"] for button in asked["buttons"]]
    assert (len(values), values[0], values[-1]) == (7, 0.0, 1.0)
    labels = [button["label"] for button in asked["buttons"]]
    assert labels == ["0", "0.17", "0.33", "0.5", "0.67", "0.83", "1"]
    for value in values:
        check_answer(study, value)


@pytest.mark.parametrize("steps", [11, 19, 49, 999, 100_000])
def test_a_slider_reaches_every_step(file: str, steps: int) -> None:
    page = {"scale": {"min": -0.3, "max": 1.1, "steps": steps}}
    study = Study.create(file, ARMS, Problem(noise="bounded:-1,2"), page=page)
    asked = question_of(study)
    assert (asked["kind"], asked["min"], asked["max"]) == ("slider", -0.3, 1.1)
    for number in {0, 1, 2, 7, steps // 2, steps - 1, steps}:
        check_answer(study, value_at(-0.3, 1.1, steps, number))
    for value in (-0.3 - 1e-9, 1.1 + 1e-9, -0.3 + 1.4 / steps / 2, float("inf")):
        with pytest.raises(RewardError, match="not among"):
            check_answer(study, value)


@pytest.mark.parametrize(
    ("noise", "page", "kind", "keys"),
    [
        ("bernoulli", None, "buttons", ["n", "y"]),
        ("bounded:1,5", None, "points", ["1", "2", "3", "4", "5"]),
        ("bounded:0,1", None, "points", ["0", "1"]),
        ("bounded:0,2.5", None, "points", [*"1234567890", None]),
        ("bounded:0,100", {"scale": {"min": 0, "max": 100, "step": 1}}, "slider", None),
        ("gaussian:1", None, "number", None),
        ("gaussian:1", {"buttons": [{"label": "a", "value": 1, "key": "2"}, B]},
         "buttons", ["2", "1"]),
    ],
)  # fmt: skip
def test_how_a_study_asks(
    file: str, noise: str, page: dict[str, Any] | None, kind: str, keys: list[str | None] | None
) -> None:
    asked = question_of(Study.create(file, ARMS, Problem(noise=noise), page=page))
    assert asked["kind"] == kind
    if keys is not None:
        assert [button["key"] for button in asked["buttons"]] == keys


class Crowd:
    """Browsers of raters who share a token, each with the cookies that it was given."""

    def __init__(self, client: TestClient, token: str) -> None:
        self.client, self.token = client, token
        self.cookies: dict[int, str] = {}

    def post(self, number: int, path: str, body: dict[str, Any] | None = None) -> Any:
        headers = {**bearer(self.token), "Cookie": self.cookies.get(number, "x=y")}
        answer = self.client.post(f"/rate/trees/{path}", json=body or {}, headers=headers)
        self.client.cookies.clear()
        if given := answer.headers.get("set-cookie"):
            self.cookies[number] = given.partition(";")[0]
        return answer

    def next(self, number: int) -> dict[str, Any]:
        answer = self.post(number, "next")
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found


@pytest.mark.parametrize(("budget", "most"), [(None, 7), (40, 7), (8, 4), (1, 1)])
def test_the_browsers_of_a_link_hold_no_more_than_their_share(
    connect: Connect, file: str, budget: int | None, most: int
) -> None:
    with Study.create(file, ARMS, COIN, name="trees", budget=budget) as study:
        token, other = new_token(file, "rater"), new_token(file, "rater")
        client = connect(file, rater_tickets=7, new_raters_at_once=100, rater_burst=10**6)
        crowd = Crowd(client, token)
        for number in range(30):
            crowd.next(number)
        assert len(study.pending()) == most
        # Who has an item keeps it; the others are told to wait, not that all is over.
        assert (crowd.next(0)["state"], crowd.next(29)["state"]) == ("item", "wait")
        Crowd(client, other).next(0)
        assert len(study.pending()) == (most + 1 if budget != 1 else 1)


@pytest.mark.parametrize("value", ["rater-00000001", "aaaaaaaaaaaa." + "0" * 32, "x" * 5000, ""])
def test_a_made_up_browser_is_nobody(connect: Connect, file: str, study: Study, value: str) -> None:
    token = new_token(file, "rater")
    client = connect(file)
    crowd = Crowd(client, token)
    name = f"standout_rater_{token.split('_')[1]}"
    crowd.cookies[0] = f"{name}={value}"
    found = crowd.next(0)
    # It is given an id as any new browser is, and not the one that it made up.
    assert value not in crowd.cookies[0] or not value
    (out,) = study.pending()
    assert out.worker.endswith(crowd.cookies[0].partition("=")[2].partition(".")[0])
    assert crowd.post(1, "answer", {"ticket": found["ticket"], "value": 1}).status_code == 403


def test_an_id_is_good_for_its_own_link(connect: Connect, file: str, study: Study) -> None:
    one, other = new_token(file, "rater"), new_token(file, "rater")
    client = connect(file)
    first, second = Crowd(client, one), Crowd(client, other)
    ticket = first.next(0)["ticket"]
    value = first.cookies[0].partition("=")[2]
    second.cookies[0] = f"standout_rater_{other.split('_')[1]}={value}"
    assert second.post(0, "answer", {"ticket": ticket, "value": 1}).status_code == 403
    assert second.next(0)["ticket"] != ticket
    # After a new start it is still known: what signs it is in the store.
    again = Crowd(connect(file), one)
    again.cookies[0] = first.cookies[0]
    assert again.next(0)["ticket"] == ticket
    assert study.status().pending == 2


def test_ids_for_one_address_run_out(connect: Connect, file: str, study: Study) -> None:
    tokens = [new_token(file, "rater") for _ in range(2)]
    client = connect(file, new_raters_at_once=5, new_raters_per_hour=60)
    crowd = Crowd(client, tokens[0])
    found = [crowd.post(number, "next") for number in range(8)]
    assert [one.status_code for one in found] == [200] * 5 + [429] * 3
    assert 50 <= int(found[-1].headers["retry-after"]) <= 60
    assert crowd.next(0)["state"] == "item"
    assert Crowd(client, tokens[1]).next(0)["state"] == "item"


def test_raters_choose_no_leases(connect: Connect, file: str, study: Study) -> None:
    """A lease of a moment made each answer late, and let the same pull be answered again."""
    client = connect(file, rater_lease=30.0)
    crowd = Crowd(client, new_token(file, "rater"))
    for lease in (1e-6, 1e6):
        assert crowd.post(0, "next", {"lease": lease}).status_code == 422
    crowd.next(0)
    (out,) = study.pending()
    assert out.expires - out.asked == pytest.approx(30.0)


def test_one_answer_per_arm_and_browser(connect: Connect, file: str, study: Study) -> None:
    """However it is asked for: again, by a late ticket, or in two requests at once."""
    client = connect(file)
    crowd = Crowd(client, new_token(file, "rater"))
    found = crowd.next(0)
    seen = []
    while found["state"] == "item":
        seen.append(found["item"]["text"])
        found = crowd.post(0, "answer", {"ticket": found["ticket"], "value": 1}).json()
    assert (found["state"], sorted(seen)) == ("done", sorted(ARMS))
    assert [crowd.next(0)["state"] for _ in range(3)] == ["done"] * 3
    assert crowd.post(0, "next", {"again": True}).json()["state"] == "done"
    assert study.status().pulls == len(ARMS)
    assert crowd.next(1)["state"] == "item"


def test_no_completion_before_an_answer(connect: Connect, file: str) -> None:
    page = {"completion": {"after": 20, "code": "C1"}}
    study = Study.create(file, ARMS, COIN, name="trees", page=page)
    crowd = Crowd(connect(file), new_token(file, "rater"))
    found = crowd.next(0)
    assert found["completion"] is None
    while found["state"] == "item":
        assert found["completion"] is None
        found = crowd.post(0, "answer", {"ticket": found["ticket"], "value": 1}).json()
    # All that there is for this rater: fewer than it was to be, and yet it is done.
    assert (found["state"], found["completion"]["code"]) == ("done", "C1")
    study.stop()
    assert (crowd.next(0)["state"], crowd.next(1)["completion"]) == ("end", None)


@pytest.fixture
def timed(connect: Connect, file: str, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Crowd:
    """A study with one arm to ask for at a time, whose raters have their leases by `clock`."""
    page = {"completion": {"after": 2, "code": "C1"}}
    Study.create(file, ARMS, COIN, name="trees", budget=3, lease=86400, page=page).close()
    token = new_token(file, "rater")
    open_study = Study.open
    monkeypatch.setattr(
        Study, "open", lambda *place, **how: open_study(*place, **{**how, "clock": clock})
    )
    return Crowd(connect(file, rater_lease=2.0, rater_tickets=50), token)


def test_a_late_answer_to_a_pull_of_another_is_kept_and_not_counted(
    timed: Crowd, file: str, clock: Clock
) -> None:
    first = timed.next(0)
    with Study.open(file, "trees") as study:
        (out,) = study.pending()
        assert out.expires - out.asked == 2.0
        clock.now += 3
        (taken, *_) = study.ask(3, worker="bench")
        assert taken.arm == first["item"]["text"]
        for _ in range(2):
            late = timed.post(0, "answer", {"ticket": first["ticket"], "value": 1})
            assert (late.status_code, late.json()["counted"]) == (200, False)
        assert study.status().pulls == 0
        assert study.history()["status"].tolist() == ["surplus"]
        assert study.tell(taken, 0.0).counted == 1
        # It has given its answer for this arm.
        clock.now += 86_400
        assert timed.next(0)["answered"] == 1
        assert study.verify().problems == ()


def test_a_late_answer_to_a_pull_that_nobody_took_counts_once(
    timed: Crowd, file: str, clock: Clock
) -> None:
    first = timed.next(0)
    clock.now += 3
    again = timed.next(0)
    assert again["ticket"] != first["ticket"]
    late = timed.post(0, "answer", {"ticket": again["ticket"], "value": 1}).json()
    assert (late["counted"], late["answered"]) == (True, 1)
    while late["state"] == "item":
        assert late["item"]["text"] != again["item"]["text"]
        late = timed.post(0, "answer", {"ticket": late["ticket"], "value": 1}).json()
    with Study.open(file, "trees") as study:
        told = [a for a, s in zip(*map(study.history().columns.get, ("arm", "status")), strict=True)
                if s == "counted"]  # fmt: skip
        assert len(told) == len(set(told))


def test_skips_pause_no_arm(connect: Connect, file: str) -> None:
    """However many, by however many; and none is taken for a broken instrument."""
    with Study.create(file, ARMS, COIN, name="trees", pause_after=2) as study:
        crowd = Crowd(connect(file), new_token(file, "rater"))
        for number in range(6):
            found = crowd.next(number)
            while found["state"] == "item":
                body = {"ticket": found["ticket"], "reason": "no"}
                found = crowd.post(number, "skip", body).json()
            assert found["state"] == "skipped"
        assert study.status().paused == {}
        assert sum(study.status().failures.values()) == 6 * len(ARMS)


def test_a_page_that_closes_lets_its_item_go(timed: Crowd, file: str, clock: Clock) -> None:
    first = timed.next(0)
    timed.post(0, "leave", {"ticket": first["ticket"], "closes": True})
    # Loaded again at once, it has the same item still.
    assert timed.next(0)["ticket"] == first["ticket"]


def test_raters_waste_no_tickets(connect: Connect, file: str, study: Study) -> None:
    """Each item that is shown is one ticket, whatever the rater has answered before."""
    crowd = Crowd(connect(file), new_token(file, "rater"))
    answers = 0
    for number in range(8):
        found = crowd.next(number)
        while found["state"] == "item" and answers < 30:
            value = float(found["item"]["text"] == "yew")
            found = crowd.post(number, "answer", {"ticket": found["ticket"], "value": value}).json()
            answers += 1
    with Study.open(file, "trees") as seen:
        told = [t for t in seen.history()["ticket"].tolist() if t]
        assert max(told) <= answers + 8


def change(client: TestClient, ticket: int, value: float) -> Any:
    return client.post("/rate/trees/change", json={"ticket": ticket, "value": value})


def test_an_answer_is_changed_once_and_by_its_rater(
    connect: Connect, file: str, study: Study
) -> None:
    client, other = connect(file), connect(file)
    first = ask(client)["ticket"]
    assert tell(client, first, 0.0).json()["counted"]
    # Not by another, not to what the page does not offer.
    ask(other)
    assert change(other, first, 1.0).status_code == 403
    assert change(client, first, 0.5).status_code == 422
    assert change(client, 99, 1.0).status_code == 403
    answer = change(client, first, 1.0)
    assert answer.status_code == 200
    assert (answer.json()["state"], answer.json()["answered"]) == ("item", 1)
    # What was meant stands in the place of what was pressed, and who did it is kept.
    log = study.history()
    told = [pair for pair in zip(log["reward"], log["status"], strict=True) if pair[1] != "out"]
    assert told == [(0.0, "void"), (1.0, "counted")]
    assert study.changes()[0].reason == "changed by the rater"
    assert study.verify()
    again = change(client, first, 0.0)
    assert again.status_code == 422
    assert "void already" in again.json()["error"]["message"]
    assert ask(client)["answered"] == 1


def test_an_answer_is_changed_for_a_while_only(
    connect: Connect, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = Study.create(file, ARMS, COIN, name="trees", budget=20)
    client = connect(file)
    first = ask(client)["ticket"]
    tell(client, first, 0.0)
    monkeypatch.setattr("standout.service.rating.routes.CHANGE_SECONDS", -1.0)
    late = change(client, first, 1.0)
    assert (late.status_code, late.json()["error"]["code"]) == (409, "too_late")
    monkeypatch.undo()
    # After the end answers stay as they are.
    study.stop()
    ended = change(client, first, 1.0)
    assert (ended.status_code, ended.json()["error"]["code"]) == (409, "too_late")
    assert study.status().pulls == 1


def test_a_panel_hears_who_is_done(connect: Connect, file: str) -> None:
    page = {"completion": {"after": 2, "url": "https://panel.example/?cc=C1", "code": "C1"}}
    Study.create(file, ARMS, COIN, name="trees", page=page).close()
    client = connect(file)
    found = ask(client)
    for number in range(1, 4):
        assert (found["completion"] is None) == (number <= 2)
        found = tell(client, found["ticket"], 1.0).json()
        assert found["answered"] == number
    assert found["completion"] == {"url": "https://panel.example/?cc=C1", "code": "C1"}


@pytest.mark.parametrize(
    ("completion", "said"),
    [
        ({"after": 0, "code": "C"}, "number of answers"),
        ({"after": 1.5, "code": "C"}, "number of answers"),
        ({"after": 3}, "needs a url"),
        ({"after": 3, "url": "javascript:alert(1)"}, "must begin with https://"),
        ({"after": 3, "code": "C", "then": 1}, "means nothing"),
        ("C", "must be an object"),
    ],
)
def test_completions_that_cannot_be(file: str, completion: Any, said: str) -> None:
    with pytest.raises(ProblemError, match=said):
        Study.create(file, ARMS, COIN, page={"completion": completion})


def test_a_pilot_leaves_no_trace(connect: Connect, file: str, study: Study) -> None:
    before = study.pulse().seq
    client = connect(file)
    seen = {client.post("/rate/trees/pilot", json={}).json()["item"]["text"] for _ in range(60)}
    # All five but for a chance of 5 * 0.8^60, or one in 130,000.
    assert seen == set(ARMS)
    assert study.pulse().seq == before
    assert tell(client, 1, 1.0).status_code in (403, 422)
