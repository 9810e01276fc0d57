"""Every answer that is not a success, in one format.

`{"error": {"code": ..., "message": ..., "detail": ...}}`: the code is for programs, the message for
people, and the detail, if any, says where.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from standout import errors

log = logging.getLogger("standout.service")

# What HTTP itself may answer; where an error of ours has the same meaning, its own code.
CODES = {
    400: "bad_request",
    errors.TokenError.status: errors.TokenError.code,
    errors.AccessError.status: errors.AccessError.code,
    404: "not_found",
    405: "method_not_allowed",
    409: "conflict",
    413: "too_large",
    415: "unsupported_media_type",
    421: "wrong_host",
    errors.StandoutError.status: errors.StandoutError.code,
    429: "too_many_requests",
    500: "internal",
    errors.UnavailableError.status: errors.UnavailableError.code,
}


class ApiError(Exception):
    """An answer for an error of HTTP itself, which has no exception in standout.

    `code` is that of the status by default; `detail` is for programs.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str | None = None,
        detail: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code or CODES[status]
        self.message = message
        self.detail = detail
        self.headers = headers

    def response(self) -> Response:
        """The answer in the common format of errors."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.detail is not None:
            error["detail"] = self.detail
        return Response(
            json.dumps({"error": error}),
            status_code=self.status,
            headers=self.headers,
            media_type="application/json",
        )


# The place of the studies and its problems go to the log, not to clients.
_SAID: dict[type[errors.StandoutError], str] = {
    errors.NoStudyError: "there is no such study",
    errors.StudyExistsError: "there is a study of that name already; choose another",
    errors.UncertainError: "the database did not answer; the request may have been carried out. "
    "Rewards sent again with the same key count once",
    errors.StorageError: "the database cannot be used at the moment; nothing was changed, "
    "try again",
}


def translate(error: errors.StandoutError) -> ApiError:
    """An error of ours as an answer, with the code and the status of its class."""
    if isinstance(error, errors.BatchError):
        cause = error.__cause__ or errors.TicketError(str(error))
        assert isinstance(cause, errors.StandoutError)
        found = translate(cause)
        found.detail = {"index": error.index}
        return found
    headers = None
    if error.status == HTTPStatus.SERVICE_UNAVAILABLE:
        log.error("storage: %s", error)
        headers = {"Retry-After": "2"}
    message = next((said for kind, said in _SAID.items() if isinstance(error, kind)), str(error))
    return ApiError(error.status, message, code=error.code, headers=headers)


def internal() -> ApiError:
    """The message for a bug of the server; the log has the details."""
    return ApiError(500, "the server failed; its log has the details")


def _validation(error: RequestValidationError) -> ApiError:
    found = [
        {"where": [str(part) for part in problem["loc"]], "message": str(problem["msg"])}
        for problem in error.errors()[:20]
    ]
    first = found[0] if found else {"where": [], "message": "the request is not valid"}
    where = ".".join(str(part) for part in first["where"])
    return ApiError(422, f"{where}: {first['message']}", detail={"errors": found})


def of_http(error: HTTPException) -> ApiError:
    """Starlette's own errors, in the common format."""
    status = error.status_code
    phrase = HTTPStatus(status).phrase.lower()
    message = {
        404: "there is nothing at this address",
        405: "this address does not support that method",
    }.get(status, str(error.detail) if error.detail else phrase)
    headers = dict(error.headers) if error.headers else None
    return ApiError(status, message, code=CODES.get(status, "error"), headers=headers)


def install(app: FastAPI, page: Callable[[ApiError], Response]) -> None:
    """Turn every error of the app into an answer of this format, or a `page` for a browser."""

    def add(kind: type[Exception], translated: Callable[[Any], ApiError]) -> None:
        async def handle(request: Request, error: Exception) -> Response:
            found = translated(error)
            is_tab = request.method == "GET" and "text/html" in request.headers.get("accept", "")
            return page(found) if is_tab else found.response()

        app.add_exception_handler(kind, handle)

    add(ApiError, lambda error: error)
    add(errors.StandoutError, translate)
    add(RequestValidationError, _validation)
    add(HTTPException, of_http)
