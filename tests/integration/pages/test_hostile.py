"""Names and results that are made to run as a script, or to look like a part of the page."""

import json

import httpx
import pytest

from tests.otel_watchdog_collector import spans

SCRIPT = "<script>window.hit = 1</script><img src=x onerror='window.hit = 1'>"
BREAKOUTS = [
    SCRIPT,
    f'"><svg onload="window.hit = 1">{SCRIPT}',
    "' onfocus='window.hit = 1' autofocus x='",
    '{{ 7 * 7 }}${7*7}<div hx-get="/fleet" hx-trigger="load" hx-on:load="window.hit = 1">',
    "javascript:window.hit=1",
    "\u202egnp.exe\u2066 </bdi></a>",
]


@pytest.mark.parametrize("text", BREAKOUTS)
def test_nothing_that_agents_send_runs(serve, look, text):
    """Not as a name of agent, service, conversation or tool, not as arguments, result or answer."""
    fleet = serve()
    made = spans.request(agent=text, service=text, conversation=text)
    for span in made.resource_spans[0].scope_spans[0].spans:
        for pair in span.attributes:
            if pair.key in {"gen_ai.tool.name", "gen_ai.tool.call.result"}:
                pair.value.string_value = text
            elif pair.key == "gen_ai.tool.call.arguments":
                pair.value.string_value = json.dumps({"path": text})
    body = made.SerializeToString()
    headers = {"content-type": "application/x-protobuf"}
    httpx.post(f"{fleet.url}/v1/traces", content=body, headers=headers)
    fleet.sweep()
    run = fleet.run_page(text)
    looker = look()
    told = str(looker.open(run).status)
    paths = ["", f"?q={httpx.QueryParams({'': text})}", "/corrections", "/activity", "/settings"]
    pages = [run, *(f"{fleet.url}/fleet{path}" for path in paths)]
    agent = httpx.URL(f"{fleet.url}/fleet/agent", params={"id": f"{text}/{text}"})
    for page in (*pages, agent):
        looker.open(page)
        looker.page.wait_for_timeout(100)
        assert looker.page.evaluate("window.hit") is None
        assert (
            looker.page.locator("main img, main script, main [onload], main [onfocus]").count() == 0
        )
        assert looker.page.locator("main bdi [hx-get], main pre [hx-get]").count() == 0

    assert told == "200"
    assert looker.page.locator("h1 bdi").count() >= 1


def test_an_inline_script_would_not_run(serve, look):
    """Were a text once not escaped, the policy of the page would still keep it from running."""
    fleet = serve()
    looker = look()
    looker.open(f"{fleet.url}/fleet")

    looker.page.evaluate(
        "() => { const made = document.createElement('script');"
        " made.textContent = 'window.hit = 1'; document.body.append(made); }"
    )

    assert looker.page.evaluate("window.hit") is None
    assert any("Content Security Policy" in trouble for trouble in looker.troubles)
    looker.troubles.clear()
