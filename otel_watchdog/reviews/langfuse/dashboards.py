"""Puts a dashboard into Langfuse, where files cannot be imported; twice makes no doubles."""

import base64
import http.client
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import orjson

from otel_watchdog.errors import InputError
from otel_watchdog.transport.web import AGENT, Address

FILE: Final = "otel-watchdog.json"
SECONDS: Final = 30.0

_API: Final = "/api/public/unstable"
_PAGE: Final = 50
_MISSING: Final = frozenset({404, 405, 501})


def packaged() -> Path:
    """Return where the dashboard of this version is."""
    installed = Path(__file__).with_name(FILE)
    return installed if installed.exists() else _CHECKED_OUT


_CHECKED_OUT: Final = Path(__file__).parents[3] / "dashboards" / "langfuse" / FILE


def push(
    board: Mapping[str, Any], *, url: str, public_key: str, secret_key: str
) -> tuple[int, int]:
    """Make a dashboard and its widgets, or bring those of the same names up to date.

    Args:
        board: As in `dashboards/langfuse/otel-watchdog.json`.
        url: Where Langfuse is.
        public_key: The project's public key.
        secret_key: Its secret key.

    Returns:
        How many widgets were made, and how many were there.

    Raises:
        ConfigError: The URL is none.
        InputError: Langfuse refused, has no such API, or could not be reached.
    """
    api = _Api(Address(url, setting="LANGFUSE_BASE_URL"), f"{public_key}:{secret_key}")
    there = {one["name"]: one["id"] for one in api.all("dashboard-widgets")}
    placed = []
    made = 0
    for widget in board["widgets"]:
        body = widget["body"]
        id_ = there.get(body["name"])
        if id_ is None:
            id_ = api.ask("POST", "dashboard-widgets", body)["id"]
            made += 1
        else:
            api.ask("PATCH", f"dashboard-widgets/{quote(id_, safe='')}", body)
        place = {key: widget[key] for key in ("x", "y", "width", "height")}
        placed.append({"type": "widget", "id": widget["key"], "widgetId": id_, **place})
    whole = {**board["dashboard"], "definition": {"widgets": placed}}
    boards = {one["name"]: one["id"] for one in api.all("dashboards")}
    id_ = boards.get(whole["name"])
    if id_ is None:
        api.ask("POST", "dashboards", whole)
    else:
        api.ask("PATCH", f"dashboards/{quote(id_, safe='')}", whole)
    return made, len(placed) - made


class _Api:
    def __init__(self, address: Address, keys: str) -> None:
        self._address = address
        self._headers = {
            "Authorization": f"Basic {base64.b64encode(keys.encode()).decode()}",
            "Content-Type": "application/json",
            "User-Agent": AGENT,
        }

    def all(self, what: str) -> Iterator[Any]:
        page = 1
        while True:
            answer = self.ask("GET", f"{what}?page={page}&limit={_PAGE}", None)
            yield from answer["data"]
            if page >= answer.get("meta", {}).get("totalPages", 1):
                return
            page += 1

    def ask(self, method: str, path: str, body: Any) -> Any:
        connection = self._address.connection(SECONDS)
        where = f"{method} {self._address}{_API}/{path.partition('?')[0]}"
        try:
            sent = None if body is None else orjson.dumps(body)
            connection.request(
                method, f"{self._address.path}{_API}/{path}", sent, dict(self._headers)
            )
            answer = connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise InputError(f"{where}: {str(error) or type(error).__name__}") from None
        finally:
            connection.close()
        if answer.status in _MISSING:
            raise InputError(
                f"{where}: answered {answer.status}: this Langfuse has no API for dashboards"
            )
        if answer.status not in range(200, 300):
            said = content[:200].decode("utf-8", "replace")
            raise InputError(f"{where}: answered {answer.status}: {said}")
        try:
            return orjson.loads(content)
        except orjson.JSONDecodeError as error:
            raise InputError(f"{where}: answered no JSON: {error}") from None
