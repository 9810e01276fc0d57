"""The addresses of the API, one file per theme."""

from __future__ import annotations

from typing import Any

from standout.service.schemas import ErrorBody

_SAID = {
    400: "The request cannot be read (for example, its body is not UTF-8).",
    401: "A token is needed, or this one is not valid.",
    403: "This token does not allow it, or the request comes from a page of another site.",
    404: "There is no such study, or nothing at this address.",
    405: "The address does not support this method.",
    409: "Another value was recorded for the ticket, or the name is taken.",
    413: "The request is too large.",
    415: "The body is not JSON.",
    421: "The server does not answer to this host name.",
    422: "Something in the request is not valid; the message says what.",
    429: "Too many requests; Retry-After says when to come back.",
    500: "An error of the server.",
    503: "The database cannot be used at the moment; try again.",
}
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorBody, "description": said} for status, said in _SAID.items()
}
"""The errors that any address may return."""
