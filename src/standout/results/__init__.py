"""What runs and studies say, as plain values: the same here, over HTTP and from a client.

Each kind of result is a dataclass with `to_dict` and `from_dict`, made from its fields.
"""

from __future__ import annotations

from standout.results.analysis import Analysis
from standout.results.answer import (
    Ending,
    Identification,
    Question,
    Scale,
    StopReason,
    Tick,
)
from standout.results.arm import ArmHistory, ArmReward, ArmWorker, Item, ItemList
from standout.results.chances import Chances
from standout.results.interval import Interval, Threshold
from standout.results.pages import (
    ArmList,
    ChangeList,
    EndingList,
    FailureList,
    NextList,
    PendingList,
    StudyList,
)
from standout.results.serialisation import Result
from standout.results.study import (
    Change,
    CopiedStudy,
    Copy,
    Failure,
    Forecast,
    Pending,
    Pulse,
    Receipt,
    Status,
    StudyRow,
    Ticket,
    Tickets,
    Told,
    Trace,
    Verification,
    Waiting,
)
from standout.results.view import VERDICTS, ArmRow, Counts, Next, StudyView, VerdictName

__all__ = [
    "VERDICTS",
    "Analysis",
    "ArmHistory",
    "ArmList",
    "ArmReward",
    "ArmRow",
    "ArmWorker",
    "Chances",
    "Change",
    "ChangeList",
    "CopiedStudy",
    "Copy",
    "Counts",
    "Ending",
    "EndingList",
    "Failure",
    "FailureList",
    "Forecast",
    "Identification",
    "Interval",
    "Item",
    "ItemList",
    "Next",
    "NextList",
    "Pending",
    "PendingList",
    "Pulse",
    "Question",
    "Receipt",
    "Result",
    "Scale",
    "Status",
    "StopReason",
    "StudyList",
    "StudyRow",
    "StudyView",
    "Threshold",
    "Tick",
    "Ticket",
    "Tickets",
    "Told",
    "Trace",
    "VerdictName",
    "Verification",
    "Waiting",
]
