"""Lets people in, and keeps other sites' pages out."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qs, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from otel_watchdog_collector.access import ADMIN, ANYBODY, OPERATE, READ, Access, Client
from otel_watchdog_collector.web.logins import COOKIE, LOGIN_SECONDS, Logins
from otel_watchdog_collector.web.parts import PREFIX
from otel_watchdog_collector.web.views import HEADERS, link

MAX_FORM_BYTES: Final = 256 * 1024


@dataclass(frozen=True, slots=True)
class Visit:
    """One request of somebody who may look."""

    request: Request
    client: Client
    stamp: str
    """What each form must hold."""

    @property
    def tenant(self) -> str:
        """Whose agents are shown."""
        return self.client.tenant

    @property
    def may_operate(self) -> bool:
        """Whether they may change something."""
        return self.client.may(OPERATE)

    @property
    def may_configure(self) -> bool:
        """Whether they may see all settings."""
        return self.client.may(ADMIN)

    def asked(self, name: str, most: int = 1024) -> str:
        """Return a parameter of the address; empty, if it is not there."""
        return self.request.query_params.get(name, "")[:most]

    def number(self, name: str) -> int | None:
        """Return a parameter as a number from 1; `None` if it is none."""
        value = self.asked(name, 9)
        return int(value) if value.isascii() and value.isdigit() and int(value) else None


class Refused(Exception):  # noqa: N818 - an answer, not a failure
    """A request that is not answered as it was asked.

    Args:
        status: Of HTTP.
        message: Why, for people.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


Look: TypeAlias = Callable[[Visit], Response]
Act: TypeAlias = Callable[[Visit, Mapping[str, str]], Awaitable[Response]]


class Door:
    """Knows who asks.

    Args:
        access: Which tokens are valid.
        logins: Who is signed in.
        is_tls: Whether the service speaks TLS.
    """

    def __init__(self, access: Access, logins: Logins, *, is_tls: bool) -> None:
        self._access = access
        self._logins = logins
        self._is_tls = is_tls

    @property
    def is_open(self) -> bool:
        """Whether nobody needs to sign in."""
        return self._access.is_open

    def visit(self, request: Request) -> Visit | None:
        """Return who asks; `None` if they must sign in first.

        Raises:
            Refused: They may not look, or the page was reached by a name that is not ours.
        """
        cookie = request.cookies.get(COOKIE)
        if self.is_open:
            if not self._access.is_reached_by(request.headers.get("host")):
                raise Refused(421, "without tokens, this is 127.0.0.1 or localhost alone")
            return Visit(request, ANYBODY, self._logins.stamp(None))
        client = self._logins.client(cookie)
        if client is None:
            return None
        if not client.may(READ):
            raise Refused(403, "a token that may read is needed")
        return Visit(request, client, self._logins.stamp(cookie))

    def check_form(self, visit: Visit, form: Mapping[str, str]) -> None:
        """Let a form through that comes from a page of ours.

        Raises:
            Refused: It does not.
        """
        cookie = None if self.is_open else visit.request.cookies.get(COOKIE)
        check_origin(visit.request)
        if not self._logins.is_stamp(cookie, form.get("stamp", "")):
            raise Refused(403, "this form is too old; open the page again")

    def sign_in(self, request: Request, token: str) -> Response | None:
        """Sign somebody in and show them the fleet; `None` if the token is none of a reader."""
        check_origin(request)
        client = self._access.client(f"Bearer {token}")
        if client is None or not client.may(READ):
            return None
        answer = RedirectResponse(PREFIX, 303, HEADERS)
        answer.set_cookie(
            COOKIE,
            self._logins.open(client),
            max_age=int(LOGIN_SECONDS),
            path=PREFIX,
            secure=self._is_tls or request.headers.get("x-forwarded-proto") == "https",
            httponly=True,
            samesite="strict",
        )
        return answer

    def sign_out(self, request: Request) -> Response:
        """Sign somebody out."""
        self._logins.close(request.cookies.get(COOKIE))
        answer = RedirectResponse(link(f"{PREFIX}/login"), 303, HEADERS)
        answer.delete_cookie(COOKIE, path=PREFIX, httponly=True, samesite="strict")
        return answer


def check_origin(request: Request) -> None:
    """Let a request through that a page of ours sent.

    Raises:
        Refused: Another site's page did.
    """
    origin = request.headers.get("origin")
    host = request.headers.get("host")
    if origin is not None and (host is None or urlsplit(origin).netloc != host):
        raise Refused(403, "this form was sent by another site's page")
    if request.headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
        raise Refused(403, "this form was sent by another site's page")


async def form_of(request: Request) -> dict[str, str]:
    """Return the fields of a form, each once.

    Raises:
        Refused: It is too large, or no form.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise Refused(415, "a form is needed")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_FORM_BYTES:
            raise Refused(413, f"at most {MAX_FORM_BYTES} bytes")
    try:
        fields: dict[str, Any] = parse_qs(body.decode("utf-8"), max_num_fields=32)
    except ValueError:
        raise Refused(400, "the form cannot be read") from None
    return {name: values[-1] for name, values in fields.items()}
