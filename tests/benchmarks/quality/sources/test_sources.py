"""Loaders of public sources, each on a tiny file in the shape that its source publishes."""

import json

import pytest

from benchmarks.quality.runs import LabelledRun
from benchmarks.quality.scores import Verdict, alarms, judge, score
from benchmarks.quality.sources import SOURCES, load


def write(path, content):
    """Write a file of JSON, or of text, in folders that may not be there yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")


def loaded(name, path):
    """Return a source's runs by id."""
    found, runs = load(f"{name}={path}")
    assert found == name
    return {run.id: run for run in runs}


def shown(run):
    """Return what is told in each event, without what is not known."""
    kept = ("turn", "kind", "name", "args", "result", "error", "call_id", "agent")
    return [{k: event[k] for k in kept if event.get(k) is not None} for event in run.events]


def test_tau_bench(tmp_path):
    """Chat messages, and a reward that says whether the task was solved."""
    call = {"id": "c1", "function": {"name": "get_user", "arguments": '{"id": "mia"}'}}
    messages = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "name": "get_user", "content": "Error: no user"},
        {"role": "assistant", "content": "Who are you?"},
    ]
    run = {"task_id": 7, "trial": 1, "reward": 1.0, "info": {}, "traj": messages}
    write(tmp_path / "model-airline.json", [run, {**run, "trial": 2, "reward": 0.0}])

    runs = loaded("tau_bench", tmp_path)

    assert {id_: run.is_solved for id_, run in runs.items()} == {
        "model-airline:7-1": True,
        "model-airline:7-2": False,
    }
    first = runs["model-airline:7-1"]
    assert (first.expect, first.group, first.is_modern) == (
        "unlabelled",
        "tau_bench model-airline",
        True,
    )
    assert shown(first) == [
        {"turn": 0, "kind": "user_text", "result": "Hi"},
        {"turn": 1, "kind": "assistant_text", "result": ""},
        {
            "turn": 1,
            "kind": "tool_call",
            "name": "get_user",
            "args": '{"id": "mia"}',
            "call_id": "c1",
        },
        {
            "turn": 1,
            "kind": "tool_result",
            "name": "get_user",
            "result": "Error: no user",
            "call_id": "c1",
        },
        {"turn": 2, "kind": "assistant_text", "result": "Who are you?"},
    ]


def test_intercode(tmp_path):
    """Actions and observations side by side; what is no valid action has failed."""
    run = {
        "environment": "ic_sql",
        "query": "How many?",
        "turn_history": {
            "actions": ["SELECT", "SELECT count(*) FROM t"],
            "observations": ["Error executing query", [[3]]],
            "valid_action": [False, True],
        },
        "summary": {"max_reward": 1.0},
    }
    other = {**run, "environment": "ic_bash", "summary": {"max_reward": 0.67}}
    write(tmp_path / "sql" / "ic_sql_model.json", {"0": run, "1": other, "2": {"query": "?"}})

    runs = loaded("intercode", tmp_path)

    assert {id_: run.is_solved for id_, run in runs.items()} == {
        "ic_sql_model:0": True,
        "ic_sql_model:1": False,
    }
    first = runs["ic_sql_model:0"]
    assert (first.expect, first.group, first.is_modern) == (
        "unlabelled",
        "intercode ic_sql",
        False,
    )
    assert shown(first)[1:] == [
        {"turn": 1, "kind": "tool_call", "name": "execute_sql", "args": {"query": "SELECT"}},
        {
            "turn": 1,
            "kind": "tool_result",
            "name": "execute_sql",
            "result": "Error executing query",
            "error": True,
        },
        {
            "turn": 2,
            "kind": "tool_call",
            "name": "execute_sql",
            "args": {"query": "SELECT count(*) FROM t"},
        },
        {"turn": 2, "kind": "tool_result", "name": "execute_sql", "result": "[[3]]"},
    ]
    assert shown(runs["ic_sql_model:1"])[1]["args"] == {"command": "SELECT"}


STEPS = [
    {"thought": "look", "action": "str_replace_editor view /a", "observation": "text"},
    {"thought": "", "response": "run", "action": "pytest", "observation": "1 passed"},
    {"thought": "done", "action": "", "observation": ""},
]


def test_swe_agent(tmp_path):
    """Tools by the model's own messages where there is one a step; solved by the report beside."""
    view = {"name": "str_replace_editor", "arguments": '{"command": "view", "path": "/a"}'}
    history = [
        {"role": "assistant", "is_demo": True, "content": "a demonstration"},
        {"role": "assistant", "tool_calls": [{"function": view}]},
        {"role": "tool", "content": "text"},
        {"role": "assistant", "content": "run"},
        {"role": "assistant", "content": "done"},
    ]
    run = {"trajectory": STEPS, "history": history, "info": {}}
    write(tmp_path / "one" / "task-1.traj", run)
    write(tmp_path / "one" / "report.json", {"task-1": {"resolved": True}})
    write(tmp_path / "two" / "task-1.traj", {**run, "history": history[1:2]})

    runs = loaded("swe_agent", tmp_path)

    assert {id_: run.is_solved for id_, run in runs.items()} == {
        "one/task-1": True,
        "two/task-1": None,
    }
    assert shown(runs["one/task-1"]) == [
        {"turn": 1, "kind": "assistant_text", "result": "look"},
        {
            "turn": 1,
            "kind": "tool_call",
            "name": "str_replace_editor",
            "args": '{"command": "view", "path": "/a"}',
        },
        {"turn": 1, "kind": "tool_result", "name": "str_replace_editor", "result": "text"},
        {"turn": 2, "kind": "assistant_text", "result": "run"},
        {"turn": 2, "kind": "tool_call", "name": "bash", "args": {"command": "pytest"}},
        {"turn": 2, "kind": "tool_result", "name": "bash", "result": "1 passed"},
        {"turn": 3, "kind": "assistant_text", "result": "done"},
    ]
    assert shown(runs["two/task-1"])[1]["args"] == {"command": "str_replace_editor view /a"}


def test_swe_agent_with_one_list_of_what_is_resolved(tmp_path):
    """As submissions to SWE-bench have it; a file alone is a source, too."""
    for task in ("task-1", "task-2"):
        write(tmp_path / "trajs" / f"{task}.traj", {"trajectory": STEPS, "info": {}})
    write(tmp_path / "results" / "results.json", {"resolved": ["task-2"]})

    runs = loaded("swe_agent", tmp_path)
    (alone,) = loaded("swe_agent", tmp_path / "trajs" / "task-1.traj").values()

    assert [run.is_solved for run in runs.values()] == [False, True]
    assert (alone.id, alone.is_solved) == ("task-1", False)


def test_mini_swe_agent(tmp_path):
    """One command a message, in a fence or as a call; the code that it ended with is its error."""
    call = {"function": {"name": "bash", "arguments": '{"command": "git diff"}'}}
    messages = [
        {"role": "system", "content": "You work in a shell."},
        {"role": "user", "content": [{"type": "text", "text": "Mend it."}]},
        {"role": "assistant", "content": "Like so:\n```python\nx = 1\n```\n```bash\nls -l\n```"},
        {"role": "user", "content": "<returncode>0</returncode>\n<output>\na.py\n</output>"},
        {"role": "assistant", "content": "```bash\nls\n```\n```bash\npwd\n```"},
        {"role": "user", "content": "One action, please."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "<returncode>2</returncode>\n<output>\n</output>"},
    ]
    for task, above in (("task-1", "logs/task-1"), ("task-2", "trajs/task-2")):
        write(tmp_path / "trajs" / task / f"{task}.traj.json", {"messages": messages})
        write(tmp_path / above / "report.json", {"resolved": task == "task-1"})
    write(tmp_path / "trajs" / "task-3" / "task-3.traj.json", {"messages": messages})

    runs = loaded("mini_swe_agent", tmp_path)

    assert {id_: run.is_solved for id_, run in runs.items()} == {
        "task-1": True,
        "task-2": False,
        "task-3": None,
    }
    told = [event for event in shown(runs["task-1"]) if event["kind"] != "assistant_text"]
    assert told == [
        {"turn": 0, "kind": "user_text", "result": "Mend it."},
        {"turn": 1, "kind": "tool_call", "name": "bash", "args": {"command": "ls -l"}},
        {"turn": 1, "kind": "tool_result", "name": "bash", "result": "a.py", "error": False},
        {"turn": 2, "kind": "user_text", "result": "One action, please."},
        {"turn": 3, "kind": "tool_call", "name": "bash", "args": {"command": "git diff"}},
        {"turn": 3, "kind": "tool_result", "name": "bash", "result": "", "error": True},
    ]


def span(number, name, kind, *, inside=None, parts=(), **attributes):
    """Return a span as Patronus writes it."""
    return {
        "timestamp": f"2025-03-19T16:32:{number:02d}.5Z",
        "duration": "PT0.5S",
        "trace_id": "ab" * 16,
        "span_id": f"{number:016x}",
        "parent_span_id": None if inside is None else f"{inside:016x}",
        "span_name": name,
        "scope_name": "openinference.instrumentation.smolagents",
        "status_code": "Ok",
        "status_message": "",
        "span_attributes": {"openinference.span.kind": kind}
        | {key.replace("__", "."): value for key, value in attributes.items()},
        "child_spans": list(parts),
    }


def trace():
    """Return a trace: an agent that thinks and searches, twice."""
    parts = []
    for number in (1, 3):
        output = {
            "llm__output_messages__0__message__role": "assistant",
            "llm__output_messages__0__message__content": f"thought {number}",
        }
        search = {"tool__name": "search", "input__value": '{"q": "a"}', "output__value": "three"}
        parts += [
            span(number, "LiteLLMModel.__call__", "LLM", inside=9, **output),
            span(number + 1, "SearchTool", "TOOL", inside=9, **search),
        ]
    run = span(0, "CodeAgent.run", "AGENT", parts=parts)
    run["span_id"], run["duration"] = f"{9:016x}", "PT1M"
    return {"trace_id": "ab" * 16, "spans": [run]}


@pytest.mark.parametrize(
    ("errors", "expect", "turn"),
    [
        ([("Resource Abuse", "MEDIUM", 4), ("Formatting Errors", "LOW", 1)], "fire", 2),
        ([("Resource Abuse ", "LOW", 4)], "borderline", None),
        ([("Goal Deviation", "HIGH", 4)], "quiet", None),
    ],
)
def test_trail(tmp_path, errors, expect, turn):
    """Spans are read as live ones are; the label is what people remarked, and where."""
    remarks = [
        {"category": category, "impact": impact, "location": f"{place:016x}"}
        for category, impact, place in errors
    ]
    write(tmp_path / "data" / "GAIA" / "abab.json", trace())
    write(tmp_path / "data" / "GAIA" / "nobody-read-this.json", trace())
    write(tmp_path / "processed_annotations_gaia" / "abab.json", {"errors": remarks})

    (run,) = loaded("trail", tmp_path).values()

    assert (run.group, run.expect, run.fire_by_turn) == ("trail GAIA", expect, turn)
    assert [(e["turn"], e["kind"], e.get("result")) for e in shown(run)] == [
        (1, "assistant_text", "thought 1"),
        (1, "tool_call", None),
        (1, "tool_result", "three"),
        (2, "assistant_text", "thought 3"),
        (2, "tool_call", None),
        (2, "tool_result", "three"),
    ]


def test_agent_reward_bench(tmp_path):
    """What an action leads to stands in the next step; annotators may disagree."""
    header = "annotator_name,benchmark,task_id,exp_name,trajectory_success,trajectory_looping"
    rows = [
        "A,webarena,w.1,agent_on_w,Unsuccessful,Yes",
        "B,webarena,w.1,agent_on_w,Unsuccessful,Yes",
        "A,webarena,w.2,agent_on_w,Successful,Yes",
        "B,webarena,w.2,agent_on_w,Unsuccessful,No",
        "A,webarena,w.3,agent_on_w,Successful,No",
        "A,webarena,w.4,agent_on_w,Unsuccessful,No",
    ]
    steps = [
        {"reasoning": "first", "action": "click('a1')", "url": "u", "axtree_pruned": "[a1] Buy"},
        {
            "reasoning": "second",
            "action": "fill('a2', value='red')",
            "url": "u",
            "axtree_pruned": "[a2] Search",
            "last_action_error": "",
        },
        {
            "reasoning": None,
            "action": None,
            "url": "u",
            "axtree_pruned": "",
            "last_action_error": "TimeoutError: a2",
        },
    ]
    write(tmp_path / "data" / "annotations.csv", "\n".join([header, *rows]))
    for task in ("w.1", "w.2", "w.3", "not-annotated"):
        write(
            tmp_path / "cleaned" / "webarena" / "agent" / "agent_on_w" / f"{task}.json",
            {"steps": steps},
        )

    runs = loaded("agent_reward_bench", tmp_path)

    assert [(run.id, run.expect, run.is_solved) for run in runs.values()] == [
        ("agent_on_w:w.1", "fire", False),
        ("agent_on_w:w.2", "borderline", None),
        ("agent_on_w:w.3", "quiet", True),
    ]
    assert shown(runs["agent_on_w:w.1"]) == [
        {"turn": 1, "kind": "assistant_text", "result": "first"},
        {"turn": 1, "kind": "tool_call", "name": "click", "args": {"0": "a1"}},
        {
            "turn": 1,
            "kind": "tool_result",
            "name": "click",
            "result": "URL: u\n[a2] Search",
            "error": False,
        },
        {"turn": 2, "kind": "assistant_text", "result": "second"},
        {"turn": 2, "kind": "tool_call", "name": "fill", "args": {"0": "a2", "value": "red"}},
        {
            "turn": 2,
            "kind": "tool_result",
            "name": "fill",
            "result": "TimeoutError: a2",
            "error": True,
        },
        {"turn": 3, "kind": "assistant_text", "result": ""},
    ]


@pytest.mark.parametrize("given", ["nowhere=/x", "tau_bench", "tau_bench="])
def test_what_is_no_source_is_refused(given):
    """The message lists those that are."""
    with pytest.raises(ValueError, match="one of agent_reward_bench, intercode"):
        load(given)


@pytest.mark.parametrize("name", SOURCES)
def test_a_path_without_runs_is_refused(name, tmp_path):
    """Rather than to report figures on nothing."""
    with pytest.raises(ValueError, match=f"{name}: no runs"):
        load(f"{name}={tmp_path}")
    with pytest.raises(FileNotFoundError):
        load(f"{name}={tmp_path / 'gone'}")


def test_unlabelled_runs_are_no_part_of_recall_and_precision(tmp_path):
    """Of them it is told how many are warned, and of the solved ones."""
    write(tmp_path / "a.traj", {"trajectory": STEPS[:1] * 6})
    runs = list(loaded("swe_agent", tmp_path).values())

    verdicts = judge(runs)
    quiet = LabelledRun(id="q", group="g", events=[], expect="unlabelled", is_solved=True)
    told = alarms([*verdicts, Verdict(quiet, (), (), ())])

    counts = {
        which: {what: (share["count"], share["runs"]) for what, share in figures.items()}
        for which, figures in told.items()
    }
    assert counts == {
        "unlabelled": {"warned": (1, 2), "halted": (0, 2)},
        "solved": {"warned": (0, 1), "halted": (0, 1)},
    }
    total = score(verdicts)
    assert (total.fires, total.quiets, total.borderlines) == (0, 0, 0)
