"""Playing the parts of a figure: only what the store lacks, over all processes at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from standout.paper.parts import Part, Played, Run, Runs
from standout.paper.store import Store
from standout.simulation.runs import RunRecord, Share
from standout.simulation.workers import play_all

Tick = Callable[[float], None]
"""Called with the planned seconds of work that has just been done."""

_BLOCK_SECONDS = 4.0
"""Work between two saves: about what an interrupt loses per process."""


@dataclass(frozen=True)
class Block:
    """Neighbouring runs of a part that are played and saved together."""

    part: Part
    share: Share

    @property
    def cost(self) -> float:
        """About how many seconds it takes."""
        return self.part.cost * (self.share.last - self.share.first)


@dataclass(frozen=True)
class Plan:
    """Runs 0 ... `runs` - 1 of every part: those known from the store and those to be played."""

    runs: int
    store: Store
    known: dict[str, dict[int, Run]]
    blocks: tuple[Block, ...]

    @property
    def cost(self) -> float:
        """About how many seconds of work there are."""
        return sum(block.cost for block in self.blocks)

    def play(self, jobs: int, tick: Tick) -> Played:
        """Play the blocks, saving each as it is done; gives all runs."""
        block_of = {id(block.share): block for block in self.blocks}

        def keep(share: Share, records: list[RunRecord]) -> None:
            block = block_of[id(share)]
            runs = self.known[block.part.key]
            runs.update({record.index: Run.of(record) for record in records})
            self.store.save(block.part, runs)
            tick(block.cost)

        play_all([block.share for block in self.blocks], jobs, keep)
        return {
            key: Runs(tuple(runs[number] for number in range(self.runs)))
            for key, runs in self.known.items()
        }


def make_plan(parts: Sequence[Part], runs: int, store: Store) -> Plan:
    """See what the store has and divide the rest into blocks of a few seconds."""
    known = {part.key: store.load(part) for part in parts}
    blocks = [
        Block(part, part.share(store.seed, first, last))
        for part in parts
        for first, last in ranges(
            sorted(set(range(runs)) - set(known[part.key])),
            max(1, int(_BLOCK_SECONDS / part.cost)),
        )
    ]
    # Longest first: the processes then finish at about the same time.
    blocks.sort(key=lambda block: -block.cost)
    return Plan(runs, store, known, tuple(blocks))


def ranges(numbers: Iterable[int], size: int) -> list[tuple[int, int]]:
    """Neighbouring numbers as ranges [first, last) of at most `size`.

    >>> ranges([0, 1, 2, 5], 2)
    [(0, 2), (2, 3), (5, 6)]
    """
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and found[-1][1] == number and number - found[-1][0] < size:
            found[-1] = (found[-1][0], number + 1)
        else:
            found.append((number, number + 1))
    return found
