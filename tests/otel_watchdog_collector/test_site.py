"""Applications for people are made when somebody first asks, and once."""

import asyncio

from otel_watchdog_collector.site import Later, Site


def answering(name, asked):
    """Return an application that notes who was asked."""

    async def answer(scope, receive, send):  # noqa: ARG001 - every application takes them
        asked.append((name, scope.get("path")))

    return answer


def test_it_is_made_once_however_many_ask_at_once():
    """Nobody gets one of their own."""
    made: list[int] = []
    asked: list[tuple[str, str]] = []

    def make():
        made.append(1)
        return answering("api", asked)

    async def run():
        later = Later(make)
        await asyncio.gather(*(later({"path": str(n)}, None, None) for n in range(5)))

    asyncio.run(run())

    assert len(made) == 1
    assert sorted(asked) == [("api", str(n)) for n in range(5)]


def test_each_path_has_its_application_and_what_is_not_asked_is_not_made():
    """Spans and corrections do without the API and the pages."""
    made: list[str] = []
    asked: list[tuple[str, str]] = []

    def make(name):
        def maker():
            made.append(name)
            return answering(name, asked)

        return maker

    async def run(*paths):
        for path in paths:
            await site({"type": "http", "path": path}, None, None)
        return list(made)

    site = Site(
        answering("otlp", asked),
        answering("mail", asked),
        make_api=make("api"),
        make_pages=make("pages"),
    )
    before = asyncio.run(run("/v1/traces", "/v1/logs", "/v1/feedback/x"))
    after = asyncio.run(run("/", "/fleet/agent", "/api/v1/agents", "/healthz"))

    assert (before, after) == ([], ["pages", "api"])
    assert [name for name, _ in asked] == ["otlp", "otlp", "mail", "pages", "pages", "api", "api"]
