"""Studies over HTTP: an API for programs, pages for people (see `docs/service.md`)."""

from __future__ import annotations

from standout.extras import require

require("serve", "the service")
