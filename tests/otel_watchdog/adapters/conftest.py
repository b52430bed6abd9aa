"""What tests of adapters share."""

import asyncio

import pytest


@pytest.fixture(autouse=True)
def loop():
    """Give `run_sync`, which leaves one open, an event loop that is closed."""
    with asyncio.Runner() as runner:
        asyncio.set_event_loop(runner.get_loop())
        yield runner
    asyncio.set_event_loop(None)
