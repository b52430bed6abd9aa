"""Gemini CLI's counts, at and below each threshold."""

from benchmarks.quality.peers.gemini_cli import GeminiCli

SENTENCE = "I will now look at the file once more, and then go on with it. "


def test_the_same_call_five_times_in_a_row_recovers_once_and_then_halts(play):
    """Results do not matter."""
    turns = [play.call("poll", {"id": 1}, play.fresh()) for _ in range(6)]

    assert play.told(GeminiCli(), *turns) == [None] * 4 + ["warn", "halt"]


def test_a_round_of_up_to_five_calls_five_times(play):
    """A sixth call in the round, or a fifth lap that is another, is none."""
    lap = [play.call(name) for name in ("a", "b", "c", "d", "e")]

    assert play.told(GeminiCli(), *lap * 5) == [None] * 24 + ["warn"]
    assert play.told(GeminiCli(), *lap * 4, *lap[:4], play.call("x")) == [None] * 25
    assert set(play.told(GeminiCli(), *[*lap, play.call("f")] * 6)) == {None}


def test_another_call_or_the_user_begins_anew(play):
    """Four and four are not eight."""
    same, other = play.call("ls"), play.call("pwd")

    assert play.told(GeminiCli(), *[same] * 4, other, *[same] * 4) == [None] * 9
    asked = play.message("And?", user=True)
    assert play.told(GeminiCli(), *[same] * 4, asked, *[same] * 4) == [None] * 9


def test_chanting_is_heard_and_a_call_ends_it(play):
    """Ten times the same piece of text, close together."""
    chant = play.message(SENTENCE * 11)
    half = play.message(SENTENCE * 5)

    assert play.told(GeminiCli(), chant) == ["warn"]
    assert play.told(GeminiCli(), half, play.call("ls"), half) == [None] * 3


def test_lists_code_and_varied_text_are_no_chant(play):
    """A list of like items differs between the pieces; code repeats by nature."""
    items = "".join(f"- item {n} is {SENTENCE}\n" for n in range(20))
    code = "```\n" + f"{SENTENCE}\n" * 20 + "```\n"
    varied = "".join(f"{n * 7919} {SENTENCE}" for n in range(20))

    said = play.told(GeminiCli(), play.message(items), play.message(code), play.message(varied))

    assert said == [None] * 3
