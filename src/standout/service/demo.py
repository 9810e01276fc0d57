"""A demonstration: a study that a simulated crowd answers.

It takes about 9,000 answers, or three to four minutes.
"""

from __future__ import annotations

import random
import threading
import time

from standout.client import Client
from standout.core.problem import Problem
from standout.errors import StandoutError
from standout.study import Study

NAME = "bicycles"
QUESTION = "Would this bring you to work by bicycle?"
# What is shown, and how many of a hundred people would say yes.
IDEAS: dict[str, tuple[str, int]] = {
    "poster": ("A poster about fresh air in the lift", 4),
    "newsletter": ("A weekly newsletter with cycling tips", 6),
    "badge": ("A badge for everybody who cycles", 9),
    "lottery": ("A chance to win a water bottle", 11),
    "speech": ("The head of the office cycles, too", 13),
    "map": ("A map of the nicest routes", 16),
    "bell": ("A bicycle bell as a present", 18),
    "pump": ("A good pump at the entrance", 20),
    "friday": ("A cycling Friday with ice cream", 23),
    "team": ("A ranking of all departments", 25),
    "lights": ("Free lights for the dark season", 27),
    "umbrella": ("A cape against the rain", 30),
    "repair": ("A mechanic comes twice a year", 32),
    "course": ("A morning course in city cycling", 34),
    "lockers": ("A locker for helmet and gloves", 37),
    "shower": ("A second shower", 39),
    "late": ("Half an hour of patience on rainy days", 41),
    "roof": ("A roof over the bicycle stands", 44),
    "breakfast": ("A free breakfast for cyclists", 46),
    "parking": ("A car park that costs 20 a day", 96),
    "lane": ("A lane of its own all the way", 97),
    "holiday": ("An extra day off for every 100 rides", 98),
}
PAGE = {
    "question": QUESTION,
    "buttons": [
        {"label": "No", "value": 0, "key": "n"},
        {"label": "Yes", "value": 1, "key": "y"},
    ],
    "end": "The study is over: every idea is decided.",
}
RATERS = 16
SECONDS = 0.35
"""The average time between two answers of one simulated rater."""


def create_demo(place: str) -> None:
    """Create the demonstration's study at `place`."""
    problem = Problem(noise="bernoulli", k=2, tolerance=0.1)
    items = {name: {"text": text} for name, (text, _) in IDEAS.items()}
    Study.create(place, list(IDEAS), problem, name=NAME, items=items, page=PAGE, lease=60).close()


class Crowd:
    """Simulated raters who answer over HTTP, each at its own pace, until the study stops."""

    def __init__(self, url: str, seed: int = 1) -> None:
        self._client = Client(url, patience=5, say=lambda text: None)
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._answer, args=(number, seed), daemon=True)
            for number in range(1, RATERS + 1)
        ]

    def start(self) -> None:
        """Start the crowd, in threads of its own."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop the crowd; the server may be gone already."""
        self._stop.set()
        deadline = time.monotonic() + 2
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        self._client.close()

    def _answer(self, number: int, seed: int) -> None:
        rng = random.Random(1000 * seed + number)
        study = self._client.study(NAME)
        who = f"made-up rater {number}"
        is_first = True
        while not self._stop.wait(rng.expovariate(1 / SECONDS)):
            try:
                if is_first:
                    tickets = study.ask(1, worker=who)
                    is_first = False
                    continue
                pairs = [(t, float(rng.random() < IDEAS[t.arm][1] / 100)) for t in tickets]
                _, tickets = study.tell_and_ask(pairs, 1, worker=who)
                if not tickets and study.status().stopped:
                    return
            except StandoutError:
                # The server is ending; its error is not worth reporting.
                time.sleep(0.5)
