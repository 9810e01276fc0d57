"""The results of runs and studies, as plain values: the same here, over HTTP and in a client.

Each kind of result is a dataclass. `to_dict` and `from_dict` follow from its fields.
"""

from __future__ import annotations

from standout.results.analysis import Analysis as Analysis
from standout.results.answer import Ending as Ending
from standout.results.answer import Identification as Identification
from standout.results.answer import Question as Question
from standout.results.answer import Scale as Scale
from standout.results.answer import StopReason as StopReason
from standout.results.answer import Tick as Tick
from standout.results.arm import ArmHistory as ArmHistory
from standout.results.arm import ArmReward as ArmReward
from standout.results.arm import ArmWorker as ArmWorker
from standout.results.arm import Item as Item
from standout.results.arm import ItemList as ItemList
from standout.results.chances import Chances as Chances
from standout.results.interval import Interval as Interval
from standout.results.interval import Threshold as Threshold
from standout.results.serialisation import Result as Result
from standout.results.study import Change as Change
from standout.results.study import ChangeList as ChangeList
from standout.results.study import CopiedStudy as CopiedStudy
from standout.results.study import Copy as Copy
from standout.results.study import EndingList as EndingList
from standout.results.study import Failure as Failure
from standout.results.study import FailureList as FailureList
from standout.results.study import Forecast as Forecast
from standout.results.study import Pending as Pending
from standout.results.study import PendingList as PendingList
from standout.results.study import Pulse as Pulse
from standout.results.study import Receipt as Receipt
from standout.results.study import Status as Status
from standout.results.study import StudyList as StudyList
from standout.results.study import StudyRow as StudyRow
from standout.results.study import Ticket as Ticket
from standout.results.study import Tickets as Tickets
from standout.results.study import Told as Told
from standout.results.study import Trace as Trace
from standout.results.study import Verification as Verification
from standout.results.study import Waiting as Waiting
from standout.results.view import VERDICTS as VERDICTS
from standout.results.view import ArmList as ArmList
from standout.results.view import ArmRow as ArmRow
from standout.results.view import Counts as Counts
from standout.results.view import Next as Next
from standout.results.view import NextList as NextList
from standout.results.view import StudyView as StudyView
from standout.results.view import VerdictName as VerdictName
