"""Studies over HTTP: an API for programs, pages for people (see `docs/service.md`)."""
