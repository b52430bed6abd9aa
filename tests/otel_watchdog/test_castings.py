"""Each session has detectors of its own, whoever wrote them."""

from typing import Any, ClassVar

import pytest

from otel_watchdog import Profile, RepeatedToolCall, ToolCall
from otel_watchdog.castings import Mould
from otel_watchdog.profiles import detectors_of
from otel_watchdog.progress import Progress


class Foreign:
    """A detector of somebody else's, with state that cannot be pickled."""

    name: ClassVar[str] = "foreign"
    watches: ClassVar = (ToolCall,)
    needs: ClassVar = ()

    def __init__(self):
        self.seen: list[str] = []
        self.look = lambda call: call.name

    def observe(self, observation, progress):  # noqa: ARG002 - every detector takes it
        """Remember the tool."""
        self.seen.append(self.look(observation))

    def restart(self):
        """Do nothing."""


def look(detector, times=1):
    """Show a detector a call some times over; return what it found last."""
    progress, finding = Progress(), None
    call = ToolCall(session="s", turn=1, name="ls", arguments="{}")
    for _ in range(times):
        progress.observe(call)
        finding = detector.observe(call, progress)
    return finding


def held_by(detector: Any) -> dict[str, Any]:
    """Return what a detector holds, by name: it has slots for that, and no dictionary."""
    held: dict[str, Any] = detector.__getstate__()[1]
    return held


@pytest.mark.parametrize("profile", Profile)
def test_a_profile_is_copied_in_order_with_its_options(profile):
    """Copies are of the same kinds, with the same state, and are others each time."""
    originals = detectors_of(profile)
    mould = Mould(originals)

    one, other = mould.cast(), mould.cast()

    assert [type(copy) for copy in one] == [type(original) for original in originals]
    assert all(a is not b for a, b in zip(one, other, strict=True))
    for copy, original in zip(one, originals, strict=True):
        assert held_by(copy).keys() == held_by(original).keys()


def test_what_one_session_saw_is_not_seen_by_another():
    """A copy counts by itself."""
    mould = Mould([RepeatedToolCall(threshold=2)])
    (one,), (other,) = mould.cast(), mould.cast()

    assert look(one, times=2) is not None
    assert look(other) is None


def test_a_foreign_detector_is_copied_as_it_says_itself():
    """It need not be fit for pickling, and stands in its place among the others."""
    originals: list[Any] = [RepeatedToolCall(), Foreign(), RepeatedToolCall(threshold=3)]
    mould = Mould(originals)

    one: Any = mould.cast()[1]
    other: Any = mould.cast()[1]
    look(one)

    assert (one.name, one.seen, other.seen) == ("foreign", ["ls"], [])


def test_a_kind_of_a_built_in_one_is_foreign():
    """What it adds is its own business."""

    class Kind(RepeatedToolCall):
        """Holds what cannot be pickled."""

        def __init__(self):
            super().__init__(threshold=2)
            self.note = lambda: None

    (copy,) = Mould([Kind()]).cast()

    assert look(copy, times=2) is not None
