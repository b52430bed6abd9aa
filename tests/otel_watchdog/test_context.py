"""Work that is handed to threads stays where it was handed over."""

import contextvars
import threading
from concurrent.futures import ThreadPoolExecutor

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

from otel_watchdog import ContextExecutor, carry

RUN = contextvars.ContextVar("run", default="none")
TRACER = TracerProvider(shutdown_on_exit=False).get_tracer("t")


def test_carries_the_current_span_into_a_thread():
    """A span that is begun there is its child."""
    found: list[object] = []

    def work():
        found.append(trace.get_current_span())

    with TRACER.start_as_current_span("run") as span:
        thread = threading.Thread(target=carry(work))
    thread.start()
    thread.join()

    assert found == [span]


def test_several_threads_may_call_it_at_once():
    """Each in a copy: what one sets, the others do not see."""
    start = threading.Barrier(4, timeout=10)

    def work(name):
        before = RUN.get()
        RUN.set(name)
        start.wait()
        return before, RUN.get()

    RUN.set("outer")
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(carry(work), "abcd"))

    assert found == [("outer", name) for name in "abcd"]


def test_keeps_name_arguments_and_errors():
    """It is the function, elsewhere."""

    def divide(a, *, by):
        """Divide."""
        return a / by

    carried = carry(divide)

    assert (carried.__name__, carried.__doc__) == ("divide", "Divide.")
    assert carried(6, by=3) == 2


def test_the_executor_carries_each_submission():
    """The context of who submits, not of who made the pool."""
    with ContextExecutor(max_workers=1) as pool:
        RUN.set("first")
        first = pool.submit(RUN.get)
        RUN.set("second")
        second = pool.submit(RUN.get)
        third = pool.map(lambda _: RUN.get(), "ab")

        assert (first.result(), second.result(), list(third)) == ("first", "second", ["second"] * 2)
