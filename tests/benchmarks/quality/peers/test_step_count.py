"""The controls, which count and know nothing else."""

from benchmarks.quality.peers.step_count import StepCount


def test_the_twenty_first_call_is_halted_and_each_after_it(play):
    """Whatever they are."""
    turns = [play.call("write", {"n": n}) for n in range(22)]

    assert play.told(StepCount(), *turns) == [None] * 20 + ["halt"] * 2


def test_the_same_call_a_third_time(play):
    """Anywhere in the run."""
    turns = [play.call("ls"), play.call("pwd"), play.call("ls"), play.call("ls")]

    assert play.told(StepCount(same=3), *turns) == [None, None, None, "halt"]
