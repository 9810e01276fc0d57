"""Results on disk, one file per part, found again only for the very same configuration.

A run depends on the configuration, the seed and its own number, not on how many
others there are. So what 100 runs left serves as the first 100 of 500.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from standout.files import write_file
from standout.paper.parts import Part, Run, digest


@dataclass(frozen=True)
class Store:
    """The cache in one folder, for one seed."""

    folder: Path
    seed: int

    def path(self, part: Part) -> Path:
        """Where the runs of `part` are kept."""
        name = part.key.replace("/", "_").replace("=", "")
        return self.folder / f"{name}-{digest(part.configuration(self.seed))}.json"

    def load(self, part: Part) -> dict[int, Run]:
        """The runs there are, by number; none if the file is missing, damaged or another's."""
        try:
            content = json.loads(self.path(part).read_text(encoding="utf-8"))
            if content["configuration"] != _plain(part.configuration(self.seed)):
                return {}
            runs = {int(number): Run(*values) for number, values in content["runs"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}
        return runs if all(_fits(run, part) for run in runs.values()) else {}

    def save(self, part: Part, runs: dict[int, Run]) -> None:
        """Keep these runs instead of the former ones."""
        content = {
            "configuration": part.configuration(self.seed),
            "runs": {
                str(number): [run.pulls, run.stopped, run.wrong, run.errors]
                for number, run in sorted(runs.items())
            },
        }
        write_file(self.path(part), json.dumps(content))


def _fits(run: Run, part: Part) -> bool:
    return run.pulls > 0 and len(run.errors) == len(part.checkpoints)


def _plain(configuration: dict[str, Any]) -> Any:
    """As it looks after a round trip through JSON."""
    return json.loads(json.dumps(configuration))
