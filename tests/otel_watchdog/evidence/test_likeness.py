"""How alike arguments are, and what goes through a list."""

import pytest

from otel_watchdog.evidence.likeness import alikeness


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"q": "tallest building in Ohio"}, {"q": "Ohio tallest building"}),
        ({"state": "open", "nonce": "a1f03b9"}, {"state": "open", "nonce": "ff03b91"}),
        ({"state": "open", "limit": 10}, {"state": "open", "limit": 20}),
        ({"path": "a/b.py"}, {"path": "/srv/a/b.py"}),
        ({"command": "echo x", "label": "n1"}, {"command": "echo x", "label": "n2"}),
        ({"command": "grep -n foo a.py"}, {"command": "rg foo a.py"}),
    ],
)
def test_alike(one, other):
    """Other words, nonces, limits, labels and spellings of one path ask the same."""
    assert alikeness(one, other) >= 0.6


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"path": "src/a.py"}, {"path": "src/b.py"}),
        ({"user_id": 1}, {"user_id": 2}),
        ({"role": "admin", "op": "read"}, {"role": "guest", "op": "read"}),
        ({"n": "1"}, {"n": "2"}),
        (
            {"method": "GET", "url": "https://a.org/u/1"},
            {"method": "GET", "url": "https://a.org/u/2"},
        ),
        ({"command": "check --role admin"}, {"command": "check --role guest"}),
        ({"command": "cat a.py"}, {"command": "cat b.py"}),
        ({"q": "rivers of Peru"}, {"q": "kings of France"}),
        (None, {"q": "x"}),
    ],
)
def test_not_alike(one, other):
    """Other files, ids, roles, pages, addresses and subjects are new questions."""
    assert alikeness(one, other) < 0.6
