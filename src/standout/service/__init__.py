"""Studies over HTTP: an API for programs and pages for browsers (see `docs/service.md`)."""

from __future__ import annotations

from standout.extras import require

require("serve", "the service")
