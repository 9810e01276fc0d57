"""The statements of `ledger`: the run's row, the arms that changed, the rounds under way."""

from __future__ import annotations

from sqlalchemy import bindparam, delete, extract, func, insert, select, update

from standout.study import schema
from standout.study.statements import Statement

_RUNS, _ARMS, _ROUNDS = schema.runs, schema.arms, schema.rounds
COUNTERS = ("seq", "pulls", "surplus", "log", "tickets", "failed", "last_round", "steps")
_READ_RUN = select(_RUNS).where(_RUNS.c.study == bindparam("key"))
# PostgreSQL: the server's clock comes with the row, since machines may differ.
_SERVER_TIME = extract("epoch", func.clock_timestamp()).label("moment")
_READ_RUN_AND_TIME = _READ_RUN.add_columns(_SERVER_TIME)
READ_RUN = Statement(_READ_RUN)
READ_RUN_AND_TIME = Statement(_READ_RUN_AND_TIME)
LOCK_RUN_AND_TIME = Statement(_READ_RUN_AND_TIME.with_for_update())
READ_ARMS = Statement(
    select(
        _ARMS.c.position, _ARMS.c.pulls, _ARMS.c.total, _ARMS.c.verdict, _ARMS.c.pending,
        _ARMS.c.failures, _ARMS.c.streak, _ARMS.c.paused, _ARMS.c.memory, _ARMS.c.held,
    )
    .where(_ARMS.c.study == bindparam("key"), _ARMS.c.seq > bindparam("since"))
)  # fmt: skip
ARM_VALUES = (
    "pulls", "total", "verdict", "pending", "failures", "streak", "paused", "memory", "held", "seq",
)  # fmt: skip
WRITE_ARM = Statement(
    update(_ARMS)
    .where(_ARMS.c.study == bindparam("key"), _ARMS.c.position == bindparam("place"))
    .values({name: bindparam(name) for name in ARM_VALUES})
)
_FAST = (*COUNTERS, "live", "reason", "stopped", "head")
WRITE_COUNTERS = Statement(
    update(_RUNS)
    .where(_RUNS.c.study == bindparam("key"))
    .values({name: bindparam(name) for name in _FAST})
)
WRITE_RUN = Statement(
    update(_RUNS)
    .where(_RUNS.c.study == bindparam("key"))
    .values({name: bindparam(name) for name in (*_FAST, "rng", "scalars")})
)
ADD_ROUND = Statement(insert(_ROUNDS))
READ_ROUND = Statement(
    select(_ROUNDS.c.arms, _ROUNDS.c.amounts).where(
        _ROUNDS.c.study == bindparam("key"), _ROUNDS.c.id == bindparam("round")
    )
)
DROP_ROUND = Statement(
    delete(_ROUNDS).where(_ROUNDS.c.study == bindparam("key"), _ROUNDS.c.id == bindparam("round"))
)
