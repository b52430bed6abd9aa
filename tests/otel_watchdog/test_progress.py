"""The evidence that all detectors share."""

import json

import pytest
from hypothesis import example, given, strategies as st

from otel_watchdog import (
    ModelTurn,
    RunStarted,
    ToolCall,
    ToolOutcome,
    ToolResult,
    UserMessage,
)
from otel_watchdog.progress import (
    MAX_BEHIND,
    MAX_BEHIND_CHARS,
    Progress,
    canonical,
    clean_path,
    is_path_key,
)


@pytest.mark.parametrize(
    ("path", "cleaned"),
    [
        ("", "."),
        (".", "."),
        ("./", "."),
        ("/", "/"),
        ("//", "/"),
        ("///", "/"),
        ("//a", "/a"),
        ("///a//b", "/a/b"),
        ("a/", "a"),
        ("a//b", "a/b"),
        ("a/./b", "a/b"),
        ("./a", "a"),
        ("a/.", "a"),
        ("a/..", "."),
        ("a/b/..", "a"),
        ("a/../b", "b"),
        ("a/../..", ".."),
        ("a/b/../../..", ".."),
        ("..", ".."),
        ("../a", "../a"),
        ("../../a", "../../a"),
        ("/..", "/"),
        ("/../a", "/a"),
        ("/a/../..", "/"),
        (".a", ".a"),
        ("a/.b", "a/.b"),
        ("...", "..."),
        ("a/...", "a/..."),
        ("a b", "a b"),
        ("A", "A"),
        (" a", " a"),
        ("a\\..\\b", "a\\..\\b"),
        ("a\0b/../c", "c"),
        ("https://x.org/a", "https:/x.org/a"),
    ],
)
def test_clean_path(path, cleaned):
    """Paths come out as Go's `path.Clean` gives them, where Python's differs too."""
    assert clean_path(path) == cleaned


@given(st.lists(st.sampled_from(["a", "b.c", ".", "..", ".d", ""]), max_size=8).map("/".join))
@example("//a")
def test_clean_path_is_final(path):
    """A cleaned path is clean: no empty or `.` part, no `..` after a name, no slash at its end."""
    cleaned = clean_path(path)
    parts = cleaned.split("/")[cleaned.startswith("/") :]

    assert clean_path(cleaned) == cleaned
    assert cleaned in {"/", "."} or not {"", "."} & set(parts)
    assert ".." not in "/".join(parts).lstrip("./").split("/")


@pytest.mark.parametrize(
    ("key", "is_path"),
    [
        *[(key, True) for key in ("target", "source", "destination", "src", "dst", "cwd")],
        *[(key, True) for key in ("TARGET", "Src", "path", "file_path", "filePath", "PathName")],
        *[(key, True) for key in ("filename", "directory", "working_dir", "folder_id")],
        *[(key, True) for key in ("profile", "direction", "redirect_url", "file_id")],
        *[(key, False) for key in ("targets", "source_url", "query", "url", "cwds", "", "pat")],
    ],
)
def test_is_path_key(key, is_path):
    """A few names exactly, a few words anywhere, in any case; some loosely, as published."""
    assert is_path_key(key) is is_path


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("", ""),
        ("{}", "{}"),
        (" { } ", "{}"),
        ('{"z": 1, "path": "./a.go"}', '{"path":"a.go","z":1}'),
        ('{"path":"a.go","z":1}', '{"path":"a.go","z":1}'),
        ('{"b": {"d": 1, "c": 2}}', '{"b":{"c":2,"d":1}}'),
        ('{"path": ""}', '{"path":"."}'),
        ('{"PATH": "./a"}', '{"PATH":"a"}'),
        ('{"query": "./a"}', '{"query":"./a"}'),
        ('{"path": 1}', '{"path":1}'),
        ('{"paths": ["./a", "./b"]}', '{"paths":["./a","./b"]}'),
        ('{"edit": {"path": "./a"}}', '{"edit":{"path":"./a"}}'),
        ('{"n": "1"}', '{"n":"1"}'),
        ('{"q": " A  b "}', '{"q":" A  b "}'),
        ('{"q": "\\u00e9"}', '{"q":"é"}'),
        ("[2, 1]", "[2, 1]"),
        ('"./a"', '"./a"'),
        ("1", "1"),
        ("null", "null"),
        ("{", "{"),
        ("./a", "./a"),
        ('{"a": NaN}', '{"a": NaN}'),
        ('{"a": "\\ud800"}', '{"a": "\\ud800"}'),
        ("\ud800", "\ud800"),
    ],
)
def test_canonical_text(arguments, text):
    """Objects are written anew, sorted and compact, top-level paths cleaned; the rest stands."""
    assert canonical(arguments)[1] == text


@pytest.mark.parametrize("arguments", ["", "[1]", '"a"', "1", "null", "{", "\ud800"])
def test_canonical_of_what_is_no_object(arguments):
    """It has no object form, and stays as it is."""
    assert canonical(arguments) == (None, arguments)


@pytest.mark.parametrize("depth", [10, 253, 254, 300, 1023, 1024, 5000])
def test_canonical_takes_any_depth(depth):
    """A hundred levels or ten thousand: nobody's arguments raise into their program."""
    arguments = '{"a":' + "[" * depth + "]" * depth + "}"

    assert canonical(arguments)[1] == arguments


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text("ab./é ", max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab"), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from(["path", "src", "q", "n", "z"]), JSON, max_size=5)


@pytest.mark.slow
@given(OBJECTS, st.randoms(use_true_random=False), st.sampled_from([None, 2]))
def test_canonical_knows_no_order_and_no_layout(arguments, random, indent):
    """However the recorder wrote the same object, it is the same text, and stays it."""
    items = list(arguments.items())
    random.shuffle(items)
    one = canonical(json.dumps(arguments))[1]

    other = canonical(json.dumps(dict(items), indent=indent, ensure_ascii=False))[1]

    assert one == other
    assert canonical(one)[1] == one


@given(st.text('{}[]":,\\ue\ud800 01', max_size=20))
def test_canonical_never_raises(arguments):
    """Whatever stands there, it has a text."""
    assert isinstance(canonical(arguments)[1], str)


def observed(*observations):
    """Return the evidence of the observations."""
    progress = Progress()
    for observation in observations:
        progress.observe(observation)
    return progress


def test_calls_are_the_same_by_tool_and_arguments():
    """The key holds both, and nothing else."""
    keys = [
        observed(ToolCall("s", turn, name, arguments)).call.key
        for turn, name, arguments in [
            (1, "read", '{"path": "a"}'),
            (2, "read", '{"path": "./a"}'),
            (3, "write", '{"path": "a"}'),
            (4, "read", '{"path": "b"}'),
        ]
    ]

    assert keys[0] == keys[1]
    assert len(set(keys)) == 3


def test_unknown_arguments_are_equal_to_nothing():
    """Not to each other, and not to no arguments."""
    progress = Progress()
    keys = []

    for arguments in (None, None, "", "{}", None):
        progress.observe(ToolCall("s", 1, "ls", arguments))
        keys.append(progress.call.key)

    assert len(set(keys)) == 5


@pytest.mark.parametrize("text", [None, ""])
def test_a_result_without_content_has_no_digest(text):
    """Empty or unknown, it is like no other."""
    assert observed(ToolResult("s", 1, "ls", result=text)).result.digest is None


def test_results_are_the_same_by_their_whole_text():
    """The tool does not matter, each character does; a lone surrogate does no harm."""
    one, other, longer, odd = (
        observed(ToolResult("s", 1, name, result=text)).result.digest
        for name, text in [("a", "x" * 5000), ("b", "x" * 5000), ("a", "x" * 5001), ("a", "\ud800")]
    )

    assert one == other
    assert len({one, longer, odd}) == 3


@pytest.mark.parametrize(
    ("text", "no_op"),
    [
        ('{"no_op": true}', True),
        ('{"ok": 1, "no_op": "true"}', True),
        ('{"no_op": false}', False),
        ('{"no_op": 1}', False),
        ('{"no_op": 1.0}', False),
        ('{"no_op": "True"}', False),
        ('{"no_op": [true]}', False),
        ('{"inner": {"no_op": true}}', False),
        ('["no_op"]', False),
        ("no_op: true", False),
        ("", False),
        (None, False),
    ],
)
def test_a_no_op_is_declared_literally(text, no_op):
    """It may stop a run, so nothing is read into a result."""
    assert observed(ToolResult("s", 1, "mark", result=text)).result.no_op is no_op


def test_counts_what_the_trace_carries():
    """By these counts a session tells which detectors are blind in it."""
    progress = observed(
        RunStarted("s", "r"),
        ModelTurn("s", 1),
        ToolCall("s", 1, "ls", None),
        ToolResult("s", 1, "ls"),
        ModelTurn("s", 2, text=""),
        ToolCall("s", 2, "ls", "{}"),
        ToolResult("s", 2, "ls", ToolOutcome.OK, ""),
    )

    assert (progress.turns, progress.turns_with_text) == (2, 1)
    assert (progress.calls, progress.calls_with_arguments) == (2, 1)
    assert (progress.results, progress.results_with_content) == (2, 1)
    assert progress.results_with_outcome == 1


def finished(progress, turn, text):
    """Let a call be made and end."""
    progress.observe(ToolCall("s", turn, "read", f'{{"n":{turn}}}', call_id=str(turn)))
    progress.observe(ToolResult("s", turn, "read", ToolOutcome.OK, text, call_id=str(turn)))


def test_results_that_nobody_asks_about_are_kept_within_bounds():
    """Rules that look at calls alone never ask; what waits for them holds few calls and little text."""
    progress = Progress()

    for turn in range(1, 201):
        finished(progress, turn, f"{turn} " + "x" * 10_000)

    kept = [len(entry[1].result or "") for entry in progress._behind if entry is not None]
    assert 0 < sum(kept) <= MAX_BEHIND_CHARS
    assert len(kept) <= MAX_BEHIND


def test_what_is_asked_late_is_told_as_if_it_had_been_asked_at_once():
    """The ledger catches up in order, users included."""
    late, at_once = Progress(), Progress()
    speaks = UserMessage("s", 3, "go on")

    for progress in (late, at_once):
        for turn, text in enumerate(("a", "b", "a"), 1):
            finished(progress, turn, text)
            assert progress is late or progress.exchange is not None
        progress.observe(speaks)
        finished(progress, 4, "c")

    assert (late.news, late.era, late.epoch) == (at_once.news, at_once.era, at_once.epoch)
    assert late.exchange is not None
    assert at_once.exchange is not None
    assert late.exchange.digest == at_once.exchange.digest


def test_one_large_result_is_still_told():
    """The newest is kept, however long it is."""
    progress = Progress()

    finished(progress, 1, "x" * 1_000_000)

    assert progress.exchange is not None
    assert progress.news == 1
