"""Tokens, for owners: created, listed and revoked, as with `standout token`."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from standout.errors import StudyError
from standout.service.answers import sent
from standout.service.errors import ApiError
from standout.service.schemas import NewToken
from standout.service.security.auth import Identity, Owner
from standout.service.security.login import sign_in
from standout.service.service import ServiceOf, answer
from standout.study.storage.tokens import NewTokenMade, Role, Token, TokenList
from standout.study.token_links import code_of, link_of

router = APIRouter(prefix="/tokens", tags=["tokens"])


def _is_theirs(who: Identity, token: Token) -> bool:
    """Whether an owner may manage a token; an owner of one study manages only its tokens."""
    return who.study is None or token.study == who.study


@router.get("", responses=sent(TokenList, "All tokens that this owner manages."))
async def list_tokens(service: ServiceOf, who: Owner) -> Response:
    """The tokens, without their secrets, oldest first."""
    keys = await service.queues.look(service.studies.keys)
    found = (one.token for one in keys.tokens)
    return answer(TokenList(tuple(token for token in found if _is_theirs(who, token))))


@router.post("", status_code=201, responses=sent(NewTokenMade, "The token, shown only once.", 201))
async def create_token(
    service: ServiceOf, who: Owner, body: NewToken, request: Request
) -> Response:
    """Create a token; its text and its link are in this answer and nowhere else.

    With the first token of all, the same answer signs the browser in, because a token is then
    required.
    """
    if who.study is not None and body.study != who.study:
        raise ApiError(403, "this token is for another study and cannot create tokens for this one")
    is_open = who.token is None and not (await service.queues.look(service.studies.keys)).tokens
    is_whole = body.role is Role.OWNER and body.study is None and body.lasts is None
    if is_open and not is_whole:
        raise StudyError(
            "once a token exists, one is required: create an owner's token for every study "
            "first, or no user could administer this service from a page"
        )
    token, text = await service.queues.slow(
        service.studies.make_token, str(body.role), body.study, body.label, who.name, body.lasts
    )
    service.gate.forget()
    link = link_of(token, text, body.origin)
    made = answer(NewTokenMade(token, text, link, tuple(code_of(link) or ())), 201)
    if is_open:
        await sign_in(made, request, service, token.id)
    return made


@router.post("/{number}/revoke", responses=sent(Token, "The token is revoked."))
async def revoke_token(service: ServiceOf, who: Owner, number: str) -> Response:
    """Revoke a token for good; not the one that sends this request."""
    keys = await service.queues.look(service.studies.keys)
    token = {one.token.id: one.token for one in keys.tokens}.get(number)
    if token is None or not _is_theirs(who, token):
        raise ApiError(404, "there is no such token")
    if who.token == number:
        raise StudyError("this is your own token; sign in with another to revoke it")
    await service.queues.slow(service.studies.revoke_token, number, who.name)
    service.gate.forget()
    return answer(token)
