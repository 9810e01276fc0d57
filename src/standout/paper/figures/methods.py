"""The methods of the figures: the paper's methods, as published and as released.

The paper's text describes whole rounds with the radius of section 3. The authors' code, which drew
the printed curves, pulls one random candidate per step with a slightly smaller radius. Random, RR
and WRR have one version, which is shown beside both. Random has the code's radius, since it is the
code's baseline.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from standout.core.kinds import IntervalKind
from standout.core.method import Method
from standout.core.methods import METHODS

PUBLISHED = "published"
RELEASED = "released"
EITHER = "either"
HEADINGS = {
    PUBLISHED: "as published (whole rounds)",
    RELEASED: "as released (one random candidate)",
}
VERSIONS = tuple(HEADINGS)


@dataclass(frozen=True)
class Player:
    """A method and its name in the figures. `speed` is its approximate µs per pull and arm."""

    name: str
    version: str
    method: Method
    speed: float

    @property
    def key(self) -> str:
        """A unique name for tables and caches."""
        return f"{self.name}-{self.version}"


RANDOM = replace(
    METHODS["random"],
    interval=IntervalKind.RELEASED,
    summary="uniform sampling with the released code's radius",
)
UNIFORM = Player("Random", EITHER, RANDOM, 0.05)

ROBUST = (
    Player("LUCB", PUBLISHED, METHODS["roai-lucb"], 0.02),
    Player("Elim", PUBLISHED, METHODS["roai-elim"], 0.01),
    Player("LUCB", RELEASED, METHODS["roai-lucb-released"], 0.10),
    Player("Elim", RELEASED, METHODS["roai-elim-released"], 0.05),
    UNIFORM,
)
"""Methods for the threshold median + k MAD."""

MEAN_STD = (
    Player("RR", EITHER, METHODS["rr"], 0.02),
    Player("WRR", EITHER, METHODS["wrr"], 0.02),
)
"""Methods for the threshold mean + k std, for bounded rewards only."""


def seen_in(version: str, players: tuple[Player, ...]) -> list[Player]:
    """The players in the panel of `version`."""
    return [player for player in players if player.version in (version, EITHER)]
