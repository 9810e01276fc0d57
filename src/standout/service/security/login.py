"""Login with a token, for pages: the browser keeps a cookie that no script can read."""

from __future__ import annotations

import json
from urllib.parse import parse_qs

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from standout.service.errors import ApiError
from standout.service.security.auth import LOGIN_COOKIE, SAFE_LOGIN_COOKIE, Identity, login_of
from standout.service.security.limits import check_rate
from standout.service.service import Service, ServiceOf, answer

router = APIRouter(include_in_schema=False)

_WEEKS = 4 * 7 * 86400


async def _fields(request: Request) -> tuple[dict[str, str], bool]:
    """The fields of a request in JSON or from a form, and whether it was a form."""
    body = await request.body()
    is_form = "form" in request.headers.get("content-type", "")
    try:
        text = body.decode()
        if is_form:
            return {key: values[-1] for key, values in parse_qs(text).items()}, True
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise ApiError(400, 'send {"token": "..."}') from None
    if not isinstance(found, dict):
        raise ApiError(400, 'send {"token": "..."}')
    return {str(key): str(value) for key, value in found.items()}, False


def _here(target: str) -> str:
    """A safe target of a redirect: never another site."""
    is_path = target.startswith("/") and not target.startswith(("//", "/\\"))
    return target if is_path and target.isprintable() and target.isascii() else "/"


def keep_cookie(response: Response, request: Request, name: str, value: str, seconds: int) -> None:
    """Set a cookie that no script can read and no other site can send."""
    # Set Secure if the request came over HTTPS, directly or through a trusted proxy.
    secure = request.url.scheme == "https"
    response.set_cookie(
        name, value, max_age=seconds, httponly=True, samesite="strict", secure=secure
    )


async def sign_in(response: Response, request: Request, service: Service, token: str) -> Response:
    """Begin a login for the token of this id, and set its cookie."""
    text = await service.queues.quick(service.studies.begin_login, token, _WEEKS)
    service.gate.forget()
    name = SAFE_LOGIN_COOKIE if request.url.scheme == "https" else LOGIN_COOKIE
    keep_cookie(response, request, name, text, _WEEKS)
    return response


@router.post("/login")
async def login(request: Request, service: ServiceOf) -> Response:
    """Exchange a token (`token`, as JSON or from a form; `next` is the target) for a login."""
    caller = request.client.host if request.client else "-"
    check_rate((service.gate.logins, caller))
    fields, is_form = await _fields(request)
    found: Identity | None = await service.gate.find(fields.get("token", "").strip())
    if found is None or found.token is None:
        raise ApiError(401, "this token is not valid here, or was revoked")
    response: Response = answer({"role": str(found.role), "study": found.study})
    if is_form:
        response = RedirectResponse(_here(fields.get("next", "/")), status_code=303)
    return await sign_in(response, request, service, found.token)


@router.post("/logout")
async def logout(request: Request, service: ServiceOf) -> Response:
    """End the login."""
    await service.queues.quick(service.studies.end_login, login_of(request.cookies))
    service.gate.forget()
    response: Response = answer({"done": True})
    if "form" in request.headers.get("content-type", ""):
        response = RedirectResponse("/", status_code=303)
    for name, is_safe in ((LOGIN_COOKIE, False), (SAFE_LOGIN_COOKIE, True)):
        response.delete_cookie(name, httponly=True, samesite="strict", secure=is_safe)
    return response
