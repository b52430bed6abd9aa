"""Model calls that fail, are rejected, repeated, cancelled or given up neither lose nor double a message."""

import asyncio
import contextlib

import pytest
from pydantic_ai import ModelRetry, capture_run_messages
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import RetryModelRequest
from pydantic_ai.models.function import (
    DeltaToolCall,
    FunctionModel,
)

from tests.otel_watchdog.adapters.pydantic_ai_cases import (
    THRESHOLD,
    Script,
    Watched,
    said,
)

pytestmark = pytest.mark.usefixtures("loop")


def test_a_failed_model_call_neither_loses_nor_doubles_the_message():
    """The run is started again in its conversation: the message is in the first request."""
    watched, model = Watched(), Script(turns=5, fails_at=(THRESHOLD + 1,))
    agent = watched.agent(model)
    with pytest.raises(ConnectionError):
        agent.run_sync("go", conversation_id="c")

    agent.run_sync("go", conversation_id="c")

    assert model.told_at() == [THRESHOLD + 1, THRESHOLD + 2]
    assert len(said(model.received[-1])) == 1


def test_a_failed_model_call_whose_history_is_kept_does_not_double_the_message():
    """The history that the failed run left already holds it."""
    watched, model = Watched(), Script(turns=5, fails_at=(THRESHOLD + 1,))
    agent = watched.agent(model)
    with capture_run_messages() as messages, pytest.raises(ConnectionError):
        agent.run_sync("go", conversation_id="c")

    agent.run_sync("go on", message_history=messages, conversation_id="c")

    assert len(said(messages)) == 1
    assert [len(said(received)) for received in model.received[THRESHOLD:]] == [1, 1, 1]


def test_a_message_that_failed_often_is_said_once_and_counts_once():
    """Each retry holds it; the ladder goes on from redirect."""
    watched = Watched()
    model = Script(turns=3 * THRESHOLD, fails_at=(THRESHOLD + 1, THRESHOLD + 2, THRESHOLD + 3))
    agent = watched.agent(model)
    for _ in range(3):
        with pytest.raises(ConnectionError):
            agent.run_sync("go", conversation_id="c")

    agent.run_sync("go", conversation_id="c")

    assert said(model.received[THRESHOLD + 3]) == said(model.received[THRESHOLD])
    assert len(said(model.received[THRESHOLD + 3])) == 1


class Rejects(AbstractCapability):
    """Has the model asked again after its answers of these numbers."""

    def __init__(self, *answers):
        self._answers = answers
        self._seen = 0

    async def after_model_request(self, ctx, *, request_context, response):  # noqa: ARG002 - the hook's form
        self._seen += 1
        if self._seen in self._answers:
            raise ModelRetry("say it better")
        return response


def test_a_rejected_answer_does_not_double_the_message():
    """The model read it; the run goes on with a request to try again."""
    watched, model = Watched(), Script(turns=THRESHOLD)

    watched.agent(model, Rejects(THRESHOLD + 1)).run_sync("go")

    assert len(model.received) == THRESHOLD + 2
    assert len(said(model.received[-1])) == 1


def test_a_stream_that_is_given_up_does_not_double_the_message(loop):
    """The request went out; the next run of the conversation, history and all, holds it once."""
    watched, model = Watched(), Script(turns=THRESHOLD)

    async def stream(messages, info):
        model(messages, info)
        if len(model.received) <= THRESHOLD:
            yield {0: DeltaToolCall(name="look", json_args="{}", tool_call_id=f"c{len(messages)}")}
            return
        for word in ("a ", "long ", "answer"):
            yield word

    agent = watched.agent(model, stream=stream)

    async def give_up():
        async with agent.run_stream("go", conversation_id="c") as result:
            await anext(result.stream_text(debounce_by=None))
            return result.all_messages()

    history = loop.run(give_up())
    agent.run_sync("go on", message_history=history, conversation_id="c")

    assert len(said(model.received[-1])) == 1


class Recovers(AbstractCapability):
    """Asks the model again where it failed, as part of the same request."""

    async def on_model_request_error(self, ctx, *, request_context, error):  # noqa: ARG002 - the hook's form
        raise RetryModelRequest


def test_an_attempt_that_is_repeated_holds_the_message_once():
    """The framework's own retry of a failed call needs nothing of us."""
    watched, model = Watched(), Script(turns=5, fails_at=(THRESHOLD + 1,))

    watched.agent(model, Recovers()).run_sync("go")

    assert model.told_at() == [THRESHOLD + 1, THRESHOLD + 2]
    assert len(said(model.received[-1])) == 1


def test_a_cancelled_run_does_not_lose_the_message(loop):
    """Whoever starts the conversation anew finds it there."""
    watched, model = Watched(), Script(turns=5)

    called = asyncio.Event()

    async def hanging(messages, info):
        if len(model.received) == THRESHOLD:
            called.set()
            await asyncio.Event().wait()
        return model(messages, info)

    agent = watched.agent(hanging)

    async def cancelled():
        running = asyncio.create_task(agent.run("go", conversation_id="c"))
        await called.wait()
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running

    loop.run(cancelled())
    with agent.override(model=FunctionModel(model)):
        agent.run_sync("go", conversation_id="c")

    assert model.told_at() == [THRESHOLD + 1]
