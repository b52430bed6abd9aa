"""What watchdogs have got wrong elsewhere, each as a story: stuck work caught, honest work quiet."""

import itertools

import pytest

from otel_watchdog import ModelTurn, ToolOutcome
from otel_watchdog.detectors import RunBudget
from otel_watchdog.model import MARKER
from otel_watchdog.progress import Progress, canonical

ERROR = ToolOutcome.ERROR


def test_refused_calls_count_as_no_progress(story):
    """A breaker that refuses calls must not thereby hide the loop from itself."""
    for _ in range(8):
        story.does("deploy", "blocked by the operator's rule", outcome=ToolOutcome.REFUSED)

    assert story.critical


def test_another_tool_does_not_reset_what_was_counted(story):
    """Block one tool and the agent takes another: the same cause goes on."""
    for tool in itertools.islice(itertools.cycle(("write_file", "patch", "bash")), 6):
        story.does(tool, "Error: disk quota exceeded on /data", outcome=ERROR, path="a", x=tool)

    assert "same_error" in story.detectors


def test_results_that_are_not_recorded_blind_and_never_stop(story):
    """Who lacks the outcome says so; a call alone may end no run."""
    for _ in range(30):
        story.does("grep", None, pattern="limit")

    assert story.critical == []
    assert "unchanged_result" in story.watchdog.blind("s")


@pytest.mark.parametrize("key", ["timeout", "request_id", "nonce", "trace_id"])
def test_volatile_arguments_do_not_make_another_call(story, key):
    """A timeout that grows asks the same question."""
    for number in range(6):
        story.does("fetch_page", "the same page as before", url="https://a.org", **{key: number})

    assert "unchanged_result" in story.detectors


def test_order_and_spelling_of_arguments_do_not_make_another_call():
    """Keys in another order and paths with a dot in them are the same call."""
    assert canonical('{"b": 1, "path": "./a"}')[1] == canonical('{"path":"a","b":1}')[1]


def test_a_random_id_in_the_wrapper_of_a_result_hides_nothing(story):
    """Each result carries a fresh marker; what is in it stays the same."""
    for number in range(6):
        marker = f"{number}c6ef362{number}f0{number}"
        text = f'<<<UNTRUSTED id="{marker}">>>\nError: unknown key\n<<<END id="{marker}">>>'
        story.does("browser", text, outcome=ERROR, action="press", key="Ctrl+Foo")

    assert story.critical


def test_the_window_goes_over_turns_and_one_text_hides_nothing(story):
    """A sentence between equal calls does not begin a new count."""
    for number in range(6):
        story.does("list_dir", "a b c", path=".")
        story.says(f"I look again, attempt {number}, at another corner of the matter.")

    assert "unchanged_result" in story.detectors


def test_a_warning_does_not_keep_what_is_critical_from_being_found(story):
    """All is judged, also where something milder was said before."""
    for _ in range(9):
        story.does("list_dir", "a b c", path=".")

    assert [one.severity.value for one in story.findings][:1] == ["warn"]
    assert story.critical


def test_after_a_correction_the_agent_starts_with_a_clean_sheet(story):
    """It heeds the first correction, reads other things, and may look once more."""
    for _ in range(3):
        story.does("list_dir", "a b c", path=".")
    told = len(story.findings)
    story.does("read_file", "alpha", path="a")
    story.does("list_dir", "a b c", path=".")
    story.does("read_file", "beta", path="b")

    assert told == 1
    assert len(story.findings) == told


def test_an_agent_that_ignores_corrections_is_found_again_and_again(story):
    """Corrections that were claimed do not silence what goes on."""
    for _ in range(30):
        story.does("list_dir", "a b c", path=".")

    assert len(story.corrections) > 2
    assert len(story.critical) > 2


def test_its_own_messages_are_no_word_of_the_user(story):
    """A correction in the history neither clears a count nor is one."""
    for _ in range(6):
        story.does("list_dir", "a b c", path=".")
        story.user(f"{MARKER} An automated observer read your last turns.")

    assert story.critical


def test_runs_of_one_session_are_one_memory(story):
    """Five launches into the same dead configuration, each a run of its own."""
    for number in range(5):
        story.run(f"run-{number}")
        story.does("start_agent", "exit 1: cannot read config", outcome=ERROR, seconds=60, id="w")

    assert story.findings


def test_a_crash_loop_is_counted_although_each_launch_works(story):
    """The launch succeeds each time, what it was for does not."""
    for number in range(5):
        story.run(f"run-{number}")
        story.does("spawn", "started", name="worker")
        story.does("ping", "Error: worker is not there", outcome=ERROR, name="worker")

    assert story.findings


def test_an_approved_tool_keeps_an_upper_bound(story):
    """Patience with a tool that polls is not without end."""
    for _ in range(40):
        story.does("job_status", "running", seconds=25, id="j")

    assert story.findings
    assert story.critical == []


def test_text_is_not_recognised_by_its_wording_alone(story):
    """A file that speaks of errors is no failure."""
    for number in range(12):
        story.does("read_file", f"docs {number}: what to do when a build FAILED", path=f"d{number}")

    assert story.findings == []


def test_interrupts_do_not_begin_anew(story):
    """One run per few calls must not defeat the count."""
    for number in range(6):
        if number % 2 == 0:
            story.run(f"run-{number}")
        story.does("search_orders", "[]", customer="C-17", state="open")

    assert "unchanged_result" in story.detectors


def test_blank_messages_with_calls_are_not_equal_texts(story):
    """Models that work silently say nothing, and it is not the same nothing."""
    for number in range(20):
        story.does("edit", f"ok {number}", path=f"f{number}", old="a", new="b")

    assert story.findings == []


def test_one_revert_is_no_oscillation(story):
    """Direction counts: to and back once is how one undoes a mistake."""
    story.does("edit_file", "ok", path="a.py", old="A", new="B")
    story.does("edit_file", "ok", path="a.py", old="B", new="A")

    assert story.findings == []


def test_edits_that_follow_each_other_are_no_oscillation(story):
    """A to B to C to D is progress, not reversal."""
    for old, new in itertools.pairwise("ABCDEFGH"):
        story.does("edit_file", "ok", path="a.py", old=old, new=new)

    assert story.findings == []


def test_progress_on_one_file_does_not_excuse_another(story):
    """Edits of b do not clear that a goes to and fro."""
    for number, (old, new) in enumerate([("A", "B"), ("B", "A")] * 5):
        story.does("edit_file", "ok", path="a.py", old=old, new=new)
        story.does("edit_file", "ok", path="b.py", old=f"x{number}", new=f"y{number}")

    assert "undone_edit" in story.detectors


def test_a_success_in_between_does_not_hide_a_failing_edit(story):
    """A failing edit and a successful reading, over and over."""
    for number in range(6):
        story.does("patch", "Error: old text not found", outcome=ERROR, path="a", old="x = 1")
        story.does("read_file", f"x = 2 # {number}", path="a", line=number)

    assert "same_error" in story.detectors


def test_a_batch_of_equal_calls_is_one_decision(story):
    """Three equal calls at once and then other work is no loop of errors."""
    story.batch(*[("patch", {"path": f"f{n}", "old": "x"}, "Error: denied") for n in range(4)])
    story.does("read_file", "alpha", path="a")
    story.does("read_file", "beta", path="b")

    assert "same_error" not in story.detectors
    assert story.critical == []


@pytest.mark.parametrize("name", ["role", "tenant", "host", "user_id", "port"])
def test_going_through_a_list_is_work(story, name):
    """Each value is a new question, also where the answer is always the same."""
    for number in range(9):
        story.does("check_access", "403 Forbidden", outcome=ERROR, **{name: f"v{number}x"})

    assert story.findings == []


@pytest.mark.parametrize(
    "command", ["check_access --role {}", "curl -s -H 'X-Tenant: {}' api", "probe port={} web"]
)
def test_going_through_a_list_in_a_shell_is_work(story, command):
    """The value of an option is a new question, too."""
    for number in range(9):
        story.does("bash", "403 Forbidden", outcome=ERROR, command=command.format(f"v{number}x"))

    assert story.findings == []


def test_numbered_addresses_are_a_list(story):
    """One item after the other, each of them missing."""
    for number in range(9):
        story.does(
            "http", "404 Not Found", outcome=ERROR, method="GET", url=f"https://a.org/u/{number}"
        )

    assert story.findings == []


def test_tokens_are_counted_net_and_within_the_run():
    """A history that is sent again and again is not paid for as if it were new."""
    budget = RunBudget(max_tokens=1000)
    fired = []

    for turn in range(1, 30):
        spoken = ModelTurn("s", turn, input_tokens=100 * turn, output_tokens=10)
        fired += [turn] if budget.observe(spoken, Progress()) else []

    assert fired == [8, 10]


def test_a_debuggers_next_is_work(story):
    """The same command, each time another line."""
    for number in range(30):
        story.does("debugger", f"main.c:{number}: step", command="next")

    assert story.findings == []


def test_a_migration_of_many_like_files_is_work(story):
    """Read, change, check: the names go round, the files do not."""
    for number in range(15):
        story.does("read_file", f"import old_{number}", path=f"m{number}.py")
        story.does("edit_file", "ok", path=f"m{number}.py", old="old", new="new")
        story.does("run_tests", "57 passed", target="unit")

    assert story.findings == []


def test_retries_that_a_server_asked_for_only_warn(story):
    """Overload is the server's, and it may come back."""
    for _ in range(20):
        story.does(
            "fetch", "429 Too Many Requests, retry after 30 s", outcome=ERROR, url="https://a.org"
        )

    assert story.critical == []


def test_an_endless_500_is_critical(story):
    """An error of the server's program does not go away by asking."""
    for _ in range(9):
        story.does("fetch", "HTTP 500: upstream error", outcome=ERROR, url="https://a.org")

    assert story.critical


def test_a_dead_credential_is_told_as_such(story):
    """Other words do not open it; "try again" would be wrong."""
    for query in ("budget", "the budget plan", "plan for the budget", "budget of this year"):
        story.does("search_pages", "401 Unauthorized: token expired", outcome=ERROR, query=query)

    wall = next(one for one in story.findings if one.detector == "auth_wall")
    assert "again" not in wall.guidance.lower()
