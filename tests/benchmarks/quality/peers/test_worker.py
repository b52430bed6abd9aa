"""How an adapter's guards are given runs, and what is told of them."""

from benchmarks.quality.peers import step_count
from benchmarks.quality.peers.steps import steps_of
from benchmarks.quality.peers.worker import answer, watch


class Third:
    """Warns of its third step, crashes at the fourth; the user's words are noted."""

    def __init__(self):
        self.steps = 0
        self.heard = []

    def observe(self, step):
        """Count."""
        if getattr(step, "is_from_user", False):
            self.heard.append(step.text)
            return None
        self.steps += 1
        if self.steps == 4:
            raise ValueError("four\nis too much")
        return "warn" if self.steps == 3 else None


def run_of(*turns, is_good=True):
    """Return a run as the worker is given it."""
    events = [{**event, "turn": turn} for turn, one in enumerate(turns) for event in one]
    return {"events": events, "is_good": is_good}


def play_to(turns, **more):
    """Return what was said of turns, and the guards that were made."""
    made = []

    def make(_good):
        made.append(Third())
        return made[-1]

    return watch(make, [], steps_of(run_of(*turns)["events"]), **more), made


def test_a_crash_is_told_with_what_was_said_before_it(play):
    """The run is not silently one without a finding."""
    said, _ = play_to([play.call("a"), play.call("b")])

    assert said["said"] == [(2, "warn")]
    assert said["crash"].startswith("ValueError: four")


def test_each_agent_has_a_guard_unless_the_run_is_the_unit(play):
    """What two agents do is not counted together; what the user says is for both."""
    turns = [play.call("a", agent="x"), play.call("a", agent="y"), play.message("Hi", user=True)]

    apart, guards = play_to(turns)
    together, one = play_to(turns, whole_run=True)

    assert (apart["crash"], [guard.heard for guard in guards]) == (None, [["Hi"], ["Hi"]])
    assert (together["crash"] is None, len(one)) == (False, 1)


def test_a_guard_that_learns_is_not_given_the_run_it_watches(play):
    """Nor one that did not go well."""
    given = []

    def learning(good):
        given.append(good)
        return step_count.StepCount()

    one, two, three = play.call("a"), play.call("b"), play.call("c")
    runs = [
        run_of(one),
        run_of(one, two),
        run_of(one, two, three, is_good=False),
    ]

    (row,) = answer({"x": learning}, runs)

    assert given == [[2], [1], [1, 2]]
    assert [told["crash"] for told in row["runs"]] == [None, None, None]
