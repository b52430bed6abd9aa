"""Every error a caller may want to catch.

WatchdogError
├── ConfigError      a setting is unknown, of the wrong type or out of range
├── InputError       a file or record could not be read
├── PluginError      a plug-in could not be loaded
└── AgentHalted      an agent was ended by a correction
"""


class WatchdogError(Exception):
    """Base of every error raised on purpose here."""


class ConfigError(WatchdogError):
    """A setting is unknown, of the wrong type or out of range.

    The message names the setting, the value given and what is allowed.
    """


class InputError(WatchdogError):
    """A file or record could not be read; the message names the place and what is allowed."""


class PluginError(WatchdogError):
    """A plug-in could not be loaded."""


class AgentHalted(WatchdogError):  # noqa: N818 - says what happened, as KeyboardInterrupt does
    """A correction ended the agent's run; never a success.

    Adapters raise it, or their framework's own typed error carrying the same fields, where a
    correction's turn cap binds (mode `enforce`).

    Args:
        reason: Why, for operators: the finding and the tier.
        correction_id: The correction whose cap was reached.
        turn: The turn that was refused, counted from 1.
    """

    def __init__(self, reason: str, *, correction_id: str, turn: int) -> None:
        super().__init__(f"ended by the watchdog before turn {turn}: {reason}")
        self.reason = reason
        self.correction_id = correction_id
        self.turn = turn
