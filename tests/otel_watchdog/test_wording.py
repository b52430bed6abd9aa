"""What the model is told, tier by tier."""

import pytest
from hypothesis import given, settings, strategies as st

from otel_watchdog import Kind, Tier
from otel_watchdog.model import MARKER
from otel_watchdog.testing import finding
from otel_watchdog.wording import message, shortened

OPERATOR_WORDS = ["operator", "threshold", "severity", "tier", "detector", "OTEL_", "setting"]


@pytest.mark.parametrize("tier", Tier)
def test_each_tier_says_what_was_seen_and_what_to_do(tier):
    """The marker opens it, the guidance follows, then advice of the tier's own."""
    text = message(finding(), tier)

    assert text.startswith(f"{MARKER} ")
    assert text.count(MARKER) == 1
    assert finding().guidance in text
    assert not text.endswith(finding().guidance)
    assert "not from the user" in text


@pytest.mark.parametrize("tier", Tier)
@pytest.mark.parametrize("word", OPERATOR_WORDS)
def test_no_operator_words_reach_the_model(tier, word):
    """Guidance is an instruction, not a report."""
    assert word not in message(finding(), tier, turns_left=3)


def test_each_tier_is_worded_differently():
    """The same text again would be ignored again."""
    assert len({message(finding(), tier) for tier in Tier}) == len(Tier)


@pytest.mark.parametrize("tier", Tier)
def test_who_is_finished_is_told_to_hand_over(tier):
    """Never to try another way: there is nothing left to do."""
    text = message(finding(kind=Kind.DONE_BUT_CONTINUING), tier)

    assert "hand over" in text.lower() or "last answer" in text
    for other in ("try again", "different one", "approach", "continue the task", "Stop probing"):
        assert other not in text


@pytest.mark.parametrize("tier", Tier)
def test_who_is_refused_is_told_that_it_is_not_theirs_to_mend(tier):
    """Never to try again: say what access is missing."""
    text = message(finding(kind=Kind.AUTH), tier)

    assert "access" in text or "not yours to mend" in text
    for other in ("try again", "Change one thing", "different one"):
        assert other not in text


@pytest.mark.parametrize("kind", [Kind.DONE_BUT_CONTINUING, Kind.AUTH])
def test_special_kinds_are_worded_differently_at_each_tier(kind):
    """There, too, the same text again would be ignored again."""
    assert len({message(finding(kind=kind), tier) for tier in Tier}) == len(Tier)


@pytest.mark.parametrize("tier", [Tier.NUDGE, Tier.REDIRECT])
def test_the_mild_tiers_send_the_agent_on_with_its_task(tier):
    """A nudge is no reason to stop working."""
    assert message(finding(), tier).endswith("then continue the task.")


@pytest.mark.parametrize(
    ("left", "said"),
    [
        (10, "At most 10 turns are left."),
        (2, "At most 2 turns are left."),
        (1, "At most 1 turn is left."),
        (0, "No turn is left after this one."),
    ],
)
def test_the_turns_left_are_said_in_words_that_fit(left, said):
    """Also where it is one, or none."""
    assert message(finding(), Tier.HARD_STOP, turns_left=left).endswith(said)


def test_without_a_cap_no_turns_are_counted():
    """The mild tiers leave the run as long as it was."""
    assert "left" not in message(finding(), Tier.NUDGE)


@pytest.mark.parametrize(
    ("text", "chars", "short"),
    [
        ("abcdefghij", 10, "abcdefghij"),
        ("abcdefghij", 9, "abcd…ghij"),
        ("abcdefghij", 5, "ab…ij"),
        ("abcdefghij", 1, "…"),
        ("", 5, ""),
    ],
)
def test_both_ends_of_a_long_text_are_kept(text, chars, short):
    """The end of a path or command says as much as its beginning."""
    assert shortened(text, chars) == short


@settings(deadline=None)
@given(text=st.text(), chars=st.integers(1, 50))
def test_a_shortened_text_is_never_too_long(text, chars):
    """Whatever it is made of."""
    short = shortened(text, chars)

    assert len(short) <= chars
    assert short == text or len(text) > chars


@pytest.mark.parametrize("before", range(0, 400, 7))
def test_a_cut_leaves_no_part_of_a_secret(before):
    """Wherever it falls: what a secret is known by may be what is cut out."""
    text = f'{"x" * before} password="{"hunter2" * 9}" {"y" * 200}'

    assert "hunter2" not in shortened(text)


def test_megabytes_are_not_read_as_a_whole():
    """The middle of a huge text is not looked at: it is not shown."""
    text = "a" * 50 + " password=hunter2 " * 2_000_000 + "b" * 50

    short = shortened(text)

    assert "hunter2" not in short
    assert (short[:50], short[-50:]) == ("a" * 50, "b" * 50)
