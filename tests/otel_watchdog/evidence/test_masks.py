"""What is volatile in a result, and what is news."""

import itertools

import pytest

from otel_watchdog.evidence.masks import (
    EDGE_CHARS,
    LearnedMasks,
    are_alike,
    bare,
    cut,
    mask,
    without_echo,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("at 2025-06-21T10:00:03Z", "at 2025-06-22T11:30:59.123+02:00"),
        ("[10:00:03] ready", "[23:59:59] ready"),
        ("id 7f3a039c-1111-2222-3333-0123456789ab", "id c95ab050-2381-91e9-d296-9d35df3648fb"),
        ("commit 7f3a039", "commit c95ab05"),
        ("at 0x7ffd12ab", "at 0x55aa00ff"),
        ("took 12 ms", "took 1.2s"),
        ("wrote /tmp/abc/x", "wrote /tmp/tmpk3j/y"),
        ("request-id: req_9f8a7b", "request-id: req_11aa22"),
        ("pid=12345 up", "pid=54321 up"),
        ("since 1718000000", "since 1718000999"),
    ],
)
def test_volatile_tokens_are_alike(one, other):
    """Clocks, durations, ids, addresses and names of temporary files."""
    assert are_alike(one, other)
    assert mask(one) == mask(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("24 % done", "37 % done"),
        ("6 errors", "5 errors"),
        ("98304 bytes", "106496 bytes"),
        ("page 1 of 9", "page 2 of 9"),
        ("row 1000000", "row 2000000"),
        ("queue is empty", "queue is full"),
        ("a\nb", "a\nb\nc"),
        ("main.py:10: x", "main.py:20: x"),
    ],
)
def test_numbers_are_news(one, other):
    """Percentages, counts and positions tell that something has moved."""
    assert not are_alike(one, other)


def test_long_lines_are_compared_where_they_differ():
    """A result in one line of JSON is not masked as a whole."""
    body = "word " * 300

    assert are_alike(f"{body}took 3 ms {body}", f"{body}took 9 ms {body}")
    assert not are_alike(f"{body}left 3 {body}", f"{body}left 9 {body}")


@pytest.mark.parametrize(
    "text",
    [
        "[request-id=7f3a039c 10:00:03]\nno matches",
        "no matches\n(request_id: c95ab050-2381-91e9-d296-9d35df3648fb, took 319 ms)",
        "no matches\nx-request-id: req_9f8a7b6c at 2026-03-12T10:00:00Z",
        "no matches [trace 9f8a7b6c 12 ms]",
    ],
)
def test_noise_around_a_result_is_cut_off(text):
    """What a server adds to each answer hides neither emptiness nor an error."""
    assert bare(text) == "no matches"


@pytest.mark.parametrize("text", ["3 files\n12 errors", "[1, 2]", "a: 1\nb: 2", "10:00 to 11:00"])
def test_figures_are_no_noise(text):
    """A line of numbers may be what was asked for."""
    assert bare(text) == text


def test_a_long_result_keeps_a_digest_of_its_middle():
    """Two results that differ in between stay different."""
    edge = "x" * EDGE_CHARS

    one, other = cut(f"{edge}middle{edge}"), cut(f"{edge}midst{edge}")

    assert one != other
    assert len(one) < 3 * EDGE_CHARS


def test_echoes_are_cut_but_numbers_stay():
    """An answer that repeats the question is the same answer."""
    assert without_echo("no 'alpha' here", ["alpha"]) == without_echo("no 'beta' here", ["beta"])
    assert without_echo("page 4000", ["4000"]) == "page 4000"


def test_a_nonce_of_an_unknown_kind_is_learned():
    """Where equal calls keep differing only there, it is the tool's own noise."""
    learned = LearnedMasks()
    texts = [f"ok\ntag {nonce}" for nonce in ("Zk3jd9", "Pq8wx2", "Bv5rn7", "Hc2yt4")]
    for one, other in itertools.pairwise(texts):
        learned.learn("get", one, other)

    assert len({learned.apply("get", text) for text in texts}) == 1
    assert learned.apply("other", texts[0]) == texts[0]


def test_names_in_a_file_are_not_learned():
    """What stands elsewhere before other words is no label."""
    learned = LearnedMasks()
    for number in range(3):
        learned.learn(
            "read", f"def a1b{number}c()\ndef keep()", f"def a1b{number + 1}c()\ndef keep()"
        )

    assert not learned.knows("read")
