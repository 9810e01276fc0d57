"""Requests to a server: repeated where this is safe, with answers turned into standout's errors."""

from __future__ import annotations

import http.client
import json
import os
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode, urlsplit

from standout import errors
from standout.retries import Patience

PATIENCE = 180.0
"""Seconds for which requests to a server that does not answer are repeated."""
TIMEOUT = 30.0
"""Seconds to wait for one answer."""

_PASSING = (429, 502, 503, 504)


class _Lost(errors.UnavailableError):
    """No usable answer came; the server asks to wait `wait` seconds.

    `may_be_done` says whether the request may have been carried out. It is false only if the
    request was never sent, or if the server says that nothing was done.
    """

    def __init__(self, message: str, *, may_be_done: bool, wait: float = 0.0) -> None:
        super().__init__(message, wait)
        self.may_be_done = may_be_done


class Transport:
    """The connections to one server: one per concurrent request, kept for later requests."""

    def __init__(
        self,
        url: str,
        token: str | None,
        patience: float,
        timeout: float,
        say: Callable[[str], None] | None = None,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise errors.StudyError(f"{_shown(url)!r} is not an address; write http://host:port")
        if parts.username or parts.password:
            raise errors.StudyError("the address contains a password; give the token separately")
        self.shown = f"{parts.scheme}://{parts.netloc}"
        self._is_safe = parts.scheme == "https"
        self._host, self._port = parts.hostname, parts.port
        self._base = parts.path.rstrip("/") + "/api/v1"
        self._headers = {"Accept": "application/json"}
        if token:
            if not token.isascii() or not token.isprintable():
                raise errors.StudyError("the token contains characters that no token has")
            self._headers["Authorization"] = f"Bearer {token.strip()}"
        self._patience, self._timeout = Patience(patience, say), timeout
        self._idle: deque[http.client.HTTPConnection] = deque()
        # After a fork the child must not use its parent's connections.
        self._owner = os.getpid()

    def _connection(self) -> http.client.HTTPConnection:
        if self._owner != os.getpid():
            self._idle, self._owner = deque(), os.getpid()
        try:
            return self._idle.pop()
        except IndexError:
            kind = http.client.HTTPSConnection if self._is_safe else http.client.HTTPConnection
            return kind(self._host, self._port, timeout=self._timeout)

    def close(self) -> None:
        """Close the connections; the next request opens another."""
        while self._idle:
            with suppress(IndexError):
                self._idle.pop().close()

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()

    def get(self, path: str, **query: Any) -> Any:
        """The JSON at an address; repeated while the server does not answer."""
        wanted = {key: value for key, value in query.items() if value is not None}
        tail = f"?{urlencode(wanted)}" if wanted else ""
        return self.patiently(lambda: self.once("GET", path + tail, None))

    def post(self, path: str, body: Mapping[str, Any], *, is_repeatable: bool = True) -> Any:
        """The JSON answer to `body`; a lost request is repeated only if it `is_repeatable`."""
        return self.patiently(lambda: self.once("POST", path, body), is_repeatable=is_repeatable)

    def patiently(self, send: Callable[[], Any], *, is_repeatable: bool = True) -> Any:
        """Call `send` until an answer comes or the patience ends.

        A request that is not repeatable is repeated only if it was certainly not carried out.
        Raises `UncertainError` if it may have been carried out, now or before, else
        `UnavailableError`.
        """
        may_be_done = False

        def may_repeat(error: errors.UnavailableError) -> bool:
            nonlocal may_be_done
            may_be_done |= isinstance(error, _Lost) and error.may_be_done
            return is_repeatable or not may_be_done

        try:
            return self._patience.call(send, may_repeat)
        except errors.UnavailableError as error:
            if may_be_done:
                raise errors.UncertainError(
                    f"{error}; the request may have been carried out"
                ) from None
            raise errors.UnavailableError(f"{error}; nothing was changed", error.wait) from None

    def once(self, method: str, path: str, body: Mapping[str, Any] | None) -> Any:
        """Send a request once."""
        data = None if body is None else json.dumps(body).encode()
        headers = dict(self._headers)
        if data is not None:
            headers["Content-Type"] = "application/json"
        connection = self._connection()
        is_sent = False
        try:
            if connection.sock is None:
                connection.connect()
            is_sent = True
            with suppress(BrokenPipeError, ConnectionResetError):
                # A server may refuse before it has read the whole body; its answer is there.
                connection.request(method, self._base + path, data, headers)
            response = connection.getresponse()
            # Python takes truncated headers for complete ones, and the body for empty.
            may_be_cut = response.length is None and not response.chunked
            content = response.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            why = str(error) or type(error).__name__
            may_be_done = is_sent and method != "GET"
            raise _Lost(f"{self.shown} does not answer: {why}", may_be_done=may_be_done) from None
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)
        try:
            found = json.loads(content)
        except ValueError:
            found = None
            if may_be_cut:
                message = f"{self.shown} closed the connection during an answer"
                raise _Lost(message, may_be_done=method != "GET") from None
            if response.status < 300:
                raise errors.StudyError(
                    f"{self.shown} answered something that is not JSON"
                ) from None
        if response.status < 300:
            return found
        failed = _error(response, found, self.shown)
        if isinstance(failed, _Lost) and method == "GET":
            failed.may_be_done = False
        raise failed


def _shown(url: str) -> str:
    """An address without a possible password."""
    return url.rpartition("@")[2][:200]


def _error(response: http.client.HTTPResponse, answer: Any, where: str) -> Exception:
    """The exception that a `Study` would have raised; `_Lost` for a temporary failure."""
    try:
        found = answer["error"]
        code, message, detail = found["code"], found["message"], found.get("detail") or {}
    except (KeyError, TypeError, AttributeError):
        code, message, detail = "", f"{where} answered {response.status}", {}
    if response.status in _PASSING:
        # A proxy's 502, 503 or 504 may come after the server has carried out the request.
        known = errors.by_code(code)
        is_ours = known is not None and not known.may_be_done
        is_sure = is_ours or response.status == HTTPStatus.TOO_MANY_REQUESTS
        wait = _seconds(response.getheader("Retry-After"))
        return _Lost(message, may_be_done=not is_sure, wait=wait)
    error = _kind(code)(message)
    if isinstance(detail.get("index"), int):
        batch = errors.BatchError(message, detail["index"])
        batch.__cause__ = error
        return batch
    return error


def _kind(code: str) -> type[errors.StandoutError]:
    """The class of an answer's code; `StudyError` for an unknown code."""
    found = errors.by_code(code) or errors.StudyError
    # These need more than a message, and no server uses their codes.
    needs_more = issubclass(found, errors.BatchError | errors.MeasureError)
    return errors.StudyError if needs_more or found is errors.StandoutError else found


def _seconds(text: str | None) -> float:
    try:
        return min(60.0, max(0.0, float(text or 1)))
    except ValueError:
        return 1.0
