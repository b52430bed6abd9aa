"""Other detectors beside ours, on the same runs and in the same tables.

Each adapter is one module of this package. It holds `ROWS`: by the name in the table, what makes a
guard for one run, given the lengths of the other runs of the set that went well. A package from
PyPI runs in an environment of its own, so nothing of it is in ours; rules that an agent publishes
within its own code were written anew here, from what they count.
"""

from collections.abc import Mapping

PACKAGES: Mapping[str, str] = {
    "unwedge": "unwedge",
    "loopguard_runtime": "loopguard-runtime",
    "trajectory_fuse": "trajectory-fuse",
    "runbound": "runbound",
    "loopbrake": "loopbrake",
    "agent_watchdog": "agent-watchdog",
}
"""Adapters of packages: the module here, and the distribution that it calls."""

RULES: Mapping[str, str] = {
    "openhands": "as of openhands-sdk 1.58.2",
    "hermes": "as of hermes-agent 06c25ac",
    "gemini_cli": "as of gemini-cli acae712",
    "qwen_code": "as of qwen-code 00aa71b",
    "step_count": "control",
}
"""Adapters with rules written anew: the module here, and which version they were read from."""
