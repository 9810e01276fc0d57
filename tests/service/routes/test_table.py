"""A table of past rewards, sent as the text of a CSV."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from standout import Problem, Study
from tests.service.conftest import Connect, bearer, new_token

PATH = "/api/v1/studies/trees/table"


@pytest.fixture
def study(file: str) -> Study:
    return Study.create(file, ["ash", "elm", "fir"], Problem(noise="bernoulli", k=2), name="trees")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("arm,value\nash,1\noak,0\nyew,0\n", "t.csv: 'oak' and 'yew' are no arms of this study"),
        ("arm,value\nash,1\nelm\n", "t.csv, row 3: 1 fields"),
        ("arm,value\nash,\n", "t.csv, row 2"),
        ("arm;value\nash;1\n", "separated by semicolons"),
        ("value\n1\n", "t.csv: no column arm"),
        ("", "t.csv: empty"),
        ("arm,value\nash,0.5\n", "0.5"),
    ],
)
def test_a_bad_table_counts_nothing(
    connect: Connect, file: str, study: Study, text: str, said: str
) -> None:
    found = connect(file).post(PATH, json={"text": text, "label": "t.csv"})
    assert found.status_code == 422
    assert said in found.json()["error"]["message"]
    assert study.status().pulls == 0


def test_counts_of_each_arm_and_again(connect: Connect, file: str, study: Study) -> None:
    client: TestClient = connect(file)
    body = {"text": "arm,count,sum\nash,5,1\nelm,4,4\n"}
    assert client.post(PATH, json=body).json()["counted"] == 9
    assert client.post(PATH, json=body).json()["again"] is True
    assert study.status().pulls == 9
    assert study.identification().means.tolist()[:2] == pytest.approx([0.2, 1.0])


def test_only_owners_send_tables(connect: Connect, file: str, study: Study) -> None:
    headers = bearer(new_token(file, "worker"))
    assert (
        connect(file).post(PATH, json={"text": "arm,value\n"}, headers=headers).status_code == 403
    )
    del study
