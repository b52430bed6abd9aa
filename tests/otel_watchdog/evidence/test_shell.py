"""What is read off a shell command."""

import pytest

from otel_watchdog.evidence.shell import options_of, parse


@pytest.mark.parametrize(
    ("command", "writes"),
    [
        ("ls -la", False),
        ("cat a.py | grep foo", False),
        ("python run.py 2>&1", False),
        ("make test > /dev/null", False),
        ("echo x > a.txt", True),
        ("sed -i 's/a/b/' f", True),
        ("git commit -m x", True),
        ("git status", False),
        ("sudo rm -rf build", True),
        ("pip install requests", True),
        ("cat <<EOF > a.py\nx\nEOF", True),
    ],
)
def test_what_changes_something(command, writes):
    """Redirections, editing in place and commands that write; what is thrown away does not."""
    assert parse(command).writes is writes


@pytest.mark.parametrize(
    "command", ["ls -la", "ls  -la", " ls -la ", "timeout 60 ls -la", "ls -la 2>&1 | head -20"]
)
def test_one_spelling(command):
    """What does not change the answer is left out."""
    assert parse(command).text == "ls -la"


def test_waiting_and_comments():
    """A command may only wait, or say nothing at all."""
    assert parse("sleep 30").waits
    assert not parse("sleep 30 && make test").waits
    assert parse("# just a thought").is_comment


def test_options_by_name():
    """Options, headers and settings by their name, the rest by its place."""
    found = options_of("curl -s --role admin -H 'X-Tenant: a' n=1 https://a.org/x")

    assert found["role"] == "admin"
    assert found["X-Tenant"] == "a"
    assert found["n"] == "1"
    assert "https://a.org/x" in found.values()
