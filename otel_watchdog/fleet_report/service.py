"""Gathers the figures of a report from what a fleet service has stored, by its HTTP API."""

import contextlib
import http.client
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlencode

import orjson

from otel_watchdog.errors import InputError
from otel_watchdog.fleet_report.facts import AgentFacts, Report
from otel_watchdog.model import Mode, Tier
from otel_watchdog.transport import web

PAGE_ROWS: Final = 500
MAX_PAGES: Final = 10_000
MAX_PAGE_BYTES: Final = 64 * 1024 * 1024
TIMEOUT_SECONDS: Final = 30.0

_OK: Final = 200
_TIERS: Final = {tier.label: int(tier) for tier in Tier}
_NOBODY: Final = "(no name)"

Fields = Mapping[str, Any]


def gather_stored(url: str, *, token: str | None = None, since: float = 0.0) -> Report:
    """Return the report of what a fleet service has stored.

    Corrections that were delivered count. Of a session without any, those are shown that the
    service would have made (mode `observe`), and the report says so.

    Args:
        url: Of the service, such as `http://collector:4318`.
        token: Shown as a bearer token; it must be one that may read.
        since: Rows that have not changed since then are left out, in seconds since the epoch.

    Raises:
        ConfigError: The URL or the token is wrong.
        InputError: The service could not be reached, refused, or is none.
    """
    address = web.Address(url, setting="service")
    headers = {"User-Agent": web.AGENT, **web.bearer(token)}
    try:
        return _gathered(
            _rows(address, headers, "runs", since), _rows(address, headers, "corrections", since)
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{address}: no rows of a fleet service: {error!r}") from None


def _gathered(listed_runs: Iterable[Fields], corrections: Iterable[Fields]) -> Report:
    agents: dict[str, AgentFacts] = {}
    runs: dict[tuple[str, str], int] = {}
    for fields in listed_runs:
        _take_run(agents, fields)
        runs[str(fields["session"]), str(fields["run"])] = int(fields["turns"])
    given: dict[str, list[Fields]] = {}
    for fields in corrections:
        given.setdefault(str(fields["session"]), []).append(fields)
    would_be = 0
    for session, made in given.items():
        told = [one for one in made if one["mode"] != Mode.OBSERVE.label]
        would_be += not told
        facts = agents.setdefault(session, _facts(made[0]))
        for one in sorted(told or made, key=_order):
            _take_correction(facts, one, runs)
    return Report(agents=list(agents.values()), would_be=would_be)


def _facts(fields: Fields) -> AgentFacts:
    return AgentFacts(session=str(fields["session"]), agent=str(fields["agent"] or _NOBODY))


def _take_run(agents: dict[str, AgentFacts], fields: Fields) -> None:
    facts = agents.setdefault(str(fields["session"]), _facts(fields))
    started, ended = fields["started_at"], fields["ended_at"] or fields["at"]
    facts.started = started if facts.started is None else min(facts.started, started)
    facts.ended = max(facts.ended or ended, ended)
    facts.turns += int(fields["turns"])
    facts.tokens += int(fields.get("tokens", 0))
    facts.turns_after += int(fields.get("turns_after", 0))
    facts.tokens_after += int(fields.get("tokens_after", 0))
    facts.deliverables += int(fields.get("deliverables", 0))
    after = fields.get("cost_usd_after", 0.0)
    if fields.get("cost_usd") is not None:
        facts.spend(fields["cost_usd"] - after, after=False)
        facts.spend(after, after=True)


def _take_correction(
    facts: AgentFacts, fields: Fields, runs: Mapping[tuple[str, str], int]
) -> None:
    facts.tiers.append(_TIERS[fields["tier"]])
    facts.detectors.append(str(fields["detector"]))
    facts.category = facts.category or fields.get("category")
    if fields.get("outcome") is not None:
        facts.outcomes.append(str(fields["outcome"]))
    if fields.get("turns_to_heed") is not None:
        facts.turns_to_heed.append(int(fields["turns_to_heed"]))
    cap, turns = fields["max_turns"], runs.get((str(fields["session"]), str(fields["run"])), 0)
    facts.ended_by_cap = facts.ended_by_cap or (cap is not None and turns >= cap)


def _order(fields: Fields) -> tuple[float, int]:
    return float(fields["at"]), int(fields["n"])


def _rows(
    address: web.Address, headers: Mapping[str, str], table: str, since: float
) -> Iterator[Fields]:
    """Yield the fields of a table's rows, each with `at`, the latest changed first."""
    before = None
    for _ in range(MAX_PAGES):
        asked = {"limit": str(PAGE_ROWS)} | ({"before": before} if before else {})
        page = _ask(address, headers, f"/api/v1/{table}?{urlencode(asked)}")
        for item in page["items"]:
            if item["at"] < since:
                return
            yield {**item["fields"], "at": item["at"]}
        before = page["next"]
        if before is None:
            return


def _ask(address: web.Address, headers: Mapping[str, str], path: str) -> Any:
    connection = address.connection(TIMEOUT_SECONDS)
    try:
        with contextlib.closing(connection):
            connection.request("GET", address.path + path, headers=dict(headers))
            answer = connection.getresponse()
            body = answer.read(MAX_PAGE_BYTES)
        found = orjson.loads(body)
    except (OSError, http.client.HTTPException, orjson.JSONDecodeError) as error:
        raise InputError(f"{address}: {type(error).__name__}: {error}") from None
    if answer.status != _OK:
        why = found.get("error") if isinstance(found, Mapping) else None
        raise InputError(f"{address}: answered {answer.status}: {why or 'no reason'}")
    return found
