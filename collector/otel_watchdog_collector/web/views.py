"""Turns templates into answers; every text in them is escaped."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, Undefined
from markupsafe import Markup
from starlette.responses import HTMLResponse

FOLDER: Final = Path(__file__).parent

HEADERS: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""Headers of every page: no script but our own files runs, nothing is fetched from elsewhere."""

_MINUTE: Final = 60
_HOUR: Final = 3600
_DAY: Final = 86_400


class Views:
    """Renders."""

    def __init__(self) -> None:
        self._templates = Environment(
            loader=FileSystemLoader(FOLDER / "templates"),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters.update(
            when=when, name=name, text=text, seconds=seconds, link=link, count=count, ago=ago
        )

        for template in self._templates.list_templates():
            self._templates.get_template(template)  # so that the first who looks need not wait

    def answer(self, template: str, context: Mapping[str, Any], status: int = 200) -> HTMLResponse:
        """Return a page.

        Args:
            template: Name of its file.
            context: What it shows.
            status: Of HTTP.
        """
        page = self._templates.get_template(template).render(context)
        return HTMLResponse(page, status, HEADERS)


def when(at: float | str | Undefined | None) -> Markup:
    """Return a time for people, in UTC.

    >>> when(1_790_000_000.25), when(None)
    (Markup('<time datetime="2026-09-21T14:13:20Z">2026-09-21 14:13:20</time>'), Markup('unknown'))
    """
    moment = _moment(at)
    if moment is None:
        return Markup("unknown")
    shown = moment.strftime("%Y-%m-%d %H:%M:%S")
    return Markup('<time datetime="{}Z">{}</time>').format(shown.replace(" ", "T"), shown)


def ago(at: float | str | Undefined | None, now: float) -> Markup:
    """Return how long ago something was; the time itself stands beside it for who points there.

    >>> ago(1_790_000_000, 1_790_000_090)
    Markup('<time datetime="2026-09-21T14:13:20Z" title="2026-09-21 14:13:20 UTC">1 min ago</time>')
    """
    moment = _moment(at)
    if moment is None:
        return Markup("unknown")
    shown = moment.strftime("%Y-%m-%d %H:%M:%S")
    return Markup('<time datetime="{}Z" title="{} UTC">{} ago</time>').format(
        shown.replace(" ", "T"), shown, seconds(max(0.0, now - moment.timestamp()))
    )


def name(value: object) -> Markup:
    """Return a name that somebody else chose: escaped, and unable to turn what is around it.

    >>> name("<b>")
    Markup('<bdi>&lt;b&gt;</bdi>')
    """
    return Markup("<bdi>{}</bdi>").format(text(value))


def text(value: object) -> str:
    r"""Return what somebody else wrote, without characters that cannot be seen.

    >>> text("a\u202eb\n")
    'a\ufffdb\n'
    """
    return "".join(_visible(char) for char in str(value))


def seconds(value: float | None) -> str:
    """Return a length of time for people.

    >>> seconds(5), seconds(95), seconds(8000), seconds(200_000), seconds(None)
    ('5 s', '1 min', '2.2 h', '2.3 days', 'unknown')
    """
    if value is None:
        return "unknown"
    if value < _MINUTE:
        return f"{value:.0f} s"
    if value < _HOUR:
        return f"{value // _MINUTE:.0f} min"
    return f"{value / _HOUR:.1f} h" if value < _DAY else f"{value / _DAY:.1f} days"


def count(value: int | Undefined | None) -> str:
    """Return a number for people.

    >>> count(1234567), count(None)
    ('1,234,567', 'unknown')
    """
    return "unknown" if value is None or isinstance(value, Undefined) else f"{value:,}"


def link(path: str, **query: object) -> str:
    """Return an address of ours.

    >>> link("/fleet/agent", id="a/b?c", page=None)
    '/fleet/agent?id=a%2Fb%3Fc'
    """
    given = {key: value for key, value in query.items() if value is not None and value != ""}
    return f"{path}?{urlencode(given, errors='replace')}" if given else path


def _visible(char: str) -> str:
    """Return a character, or what stands for one that cannot be seen."""
    return char if char.isprintable() or char in "\n\t" else "\ufffd"


def _moment(at: float | str | Undefined | None) -> datetime | None:
    try:
        if isinstance(at, Undefined):
            return None
        if isinstance(at, str):
            return datetime.fromisoformat(at)
        return None if at is None else datetime.fromtimestamp(at, tz=UTC)
    except (OverflowError, OSError, ValueError):
        return None
