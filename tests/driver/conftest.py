"""The places of studies, as for their own tests."""

from __future__ import annotations

from tests.study.conftest import folder as folder
from tests.study.conftest import place as place
from tests.study.conftest import server as server
