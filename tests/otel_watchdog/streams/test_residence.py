"""Sessions keep keys of their own, whichever come and go."""

from hypothesis import given, strategies as st

from otel_watchdog.spans import RecordedSpan, RunReading
from otel_watchdog.streams.residence import Residence
from otel_watchdog.streams.runs import Run

PLACES = ("a", "b", f"{1:032x}", f"{2:032x}")


def span(trace, at):
    """Return a span of a trace at a time."""
    return RecordedSpan(
        name="",
        scope="",
        trace_id=trace,
        span_id=1,
        parent_id=None,
        attributes={},
        events=(),
        is_error=None,
        status_text="",
        start=at,
        end=at,
    )


@given(
    st.lists(
        st.tuples(
            st.integers(1, 2),
            st.sampled_from([None, "a", "b"]),
            st.sampled_from([None, "x", "y", "z"]),
            st.sampled_from([None, *PLACES]),
        ),
        max_size=40,
    )
)
def test_no_two_sessions_have_one_key(steps):
    """Also where a conversation's id comes late, and where sessions were dropped."""
    residence = Residence(max_sessions=3, ttl_seconds=1e9)
    for at, (trace, conversation, agent, late) in enumerate(steps):
        session = residence.session(span(trace, at), conversation=conversation, agent=agent)
        run = Run(trace)
        run.session = session
        residence.bind(run, RunReading(session=late, agent=agent))

        keys = [one.key for one in residence.known()]
        assert len(keys) == len(set(keys))


def test_a_key_is_free_again_once_its_session_is_gone():
    """The first of a conversation has its id for a key."""
    residence = Residence(max_sessions=1, ttl_seconds=1e9)

    first = residence.session(span(1, 1), conversation="a", agent="x")
    residence.session(span(1, 2), conversation="b", agent="x")
    again = residence.session(span(1, 3), conversation="a", agent="y")

    assert (first.key, again.key) == ("a", "a")
