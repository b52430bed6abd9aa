"""Other settings are tried on what agents did, and change nothing."""

import re

import pytest


@pytest.fixture
def watched(serve, agent_spans):
    """Return a service before which three agents have looped."""
    running = serve()
    for number in range(1, 4):
        body = agent_spans.request(agent=f"a{number}", conversation=f"c{number}", seed=number)
        headers = {"content-type": "application/x-protobuf"}
        running.client.post("/v1/traces", content=body.SerializeToString(), headers=headers)
    running.wait(running.service.intake.keep([]))
    return running


def tried(running, written):
    """Return the status, and what is said of settings that are tried."""
    page = running.client.get("/fleet/settings").text
    found = re.search(r'name="stamp" value="([0-9a-f]+)"', page)
    assert found is not None
    data = {"watchdog": written, "stamp": found[1]}
    answer = running.client.post("/fleet/preview", data=data)
    text = re.sub(r"\s+", " ", re.sub("<[^>]+>", "", answer.text))
    return answer.status_code, text


@pytest.mark.parametrize(
    ("written", "times"),
    [
        ("", "3 times"),
        ("max_corrections: 0", "0 times"),
        ("min_turns: 50", "0 times"),
    ],
)
def test_a_preview_counts_corrections(watched, written, times):
    """As they would have been, beside those of the settings as they are."""
    status, said = tried(watched, written)

    assert status == 200
    assert f"This change would have fired {times} last week" in said
    assert "the settings as they are, 3." in said
    assert "observations of 3 sessions" in said


@pytest.mark.parametrize(
    "written",
    [
        "min_turns: -1",
        "nonsense: 1",
        "- a list",
        "mode: enforce",
        "a: [",
        "detectors: {no_such: {}}",
        "!!python/object:os.system {}",
    ],
)
def test_settings_that_are_wrong_are_explained(watched, written):
    """The page stays, with what was written and what is wrong with it."""
    status, said = tried(watched, written)

    assert status == 422
    assert "This change would have fired" not in said


def test_where_nothing_is_kept_nothing_is_tried(serve, agent_spans):
    """The pages say so, and the store has no text of an agent in it."""
    running = serve(history_chars=0)
    body = agent_spans.request().SerializeToString()
    running.client.post(
        "/v1/traces", content=body, headers={"content-type": "application/x-protobuf"}
    )
    running.wait(running.service.intake.keep([]))

    page = running.client.get("/fleet/settings").text
    (run,) = running.client.get("/api/v1/runs").json()["items"]
    names = {"session": run["fields"]["session"], "run": run["fields"]["run"]}
    shown = running.client.get("/fleet/run", params=names).text

    assert "What agents do is not kept here" in page
    assert "What agents do is not kept here" in shown
    assert 'article class="correction' in shown
    assert "a b c" not in shown
