"""The built-in detectors, one a file."""

from otel_watchdog.detectors.auth_wall import AuthWall
from otel_watchdog.detectors.base import Detector
from otel_watchdog.detectors.dominant_tool_call import DominantToolCall
from otel_watchdog.detectors.done_but_continuing import DoneButContinuing
from otel_watchdog.detectors.duplicate_work import DuplicateWork
from otel_watchdog.detectors.echoed_program import EchoedProgram
from otel_watchdog.detectors.failing_check import FailingCheck
from otel_watchdog.detectors.green_but_continuing import GreenButContinuing
from otel_watchdog.detectors.idle_message import IdleMessage
from otel_watchdog.detectors.known_lines import KnownLines
from otel_watchdog.detectors.no_file_written import NoFileWritten
from otel_watchdog.detectors.no_new_state import NoNewState
from otel_watchdog.detectors.no_op_streak import NoOpStreak
from otel_watchdog.detectors.promise_without_call import PromiseWithoutCall
from otel_watchdog.detectors.provider_failure import ProviderFailure
from otel_watchdog.detectors.read_heavy_run import ReadHeavyRun
from otel_watchdog.detectors.repeated_command import RepeatedCommand
from otel_watchdog.detectors.repeated_text import RepeatedText
from otel_watchdog.detectors.repeated_thought import RepeatedThought
from otel_watchdog.detectors.repeated_tool_call import RepeatedToolCall
from otel_watchdog.detectors.repeated_tool_name import RepeatedToolName
from otel_watchdog.detectors.result_cycle import ResultCycle
from otel_watchdog.detectors.reworded_call import RewordedCall
from otel_watchdog.detectors.reworded_request import RewordedRequest
from otel_watchdog.detectors.reworded_result import RewordedResult
from otel_watchdog.detectors.run_budget import RunBudget
from otel_watchdog.detectors.same_error import SameError
from otel_watchdog.detectors.tool_call_cycle import ToolCallCycle
from otel_watchdog.detectors.tool_failure_streak import ToolFailureStreak
from otel_watchdog.detectors.tools_without_text import ToolsWithoutText
from otel_watchdog.detectors.turns_without_success import TurnsWithoutSuccess
from otel_watchdog.detectors.unchanged_result import UnchangedResult
from otel_watchdog.detectors.undone_edit import UndoneEdit
from otel_watchdog.detectors.unmoved_page import UnmovedPage

__all__ = [
    "BUILT_IN",
    "AuthWall",
    "Detector",
    "DominantToolCall",
    "DoneButContinuing",
    "DuplicateWork",
    "EchoedProgram",
    "FailingCheck",
    "GreenButContinuing",
    "IdleMessage",
    "KnownLines",
    "NoFileWritten",
    "NoNewState",
    "NoOpStreak",
    "PromiseWithoutCall",
    "ProviderFailure",
    "ReadHeavyRun",
    "RepeatedCommand",
    "RepeatedText",
    "RepeatedThought",
    "RepeatedToolCall",
    "RepeatedToolName",
    "ResultCycle",
    "RewordedCall",
    "RewordedRequest",
    "RewordedResult",
    "RunBudget",
    "SameError",
    "ToolCallCycle",
    "ToolFailureStreak",
    "ToolsWithoutText",
    "TurnsWithoutSuccess",
    "UnchangedResult",
    "UndoneEdit",
    "UnmovedPage",
]

BUILT_IN: tuple[type[Detector], ...] = (
    RepeatedToolCall,
    ToolCallCycle,
    DominantToolCall,
    RepeatedToolName,
    ToolFailureStreak,
    NoOpStreak,
    NoNewState,
    ToolsWithoutText,
    UnchangedResult,
    ResultCycle,
    AuthWall,
    SameError,
    RewordedCall,
    FailingCheck,
    UndoneEdit,
    EchoedProgram,
    RewordedResult,
    RewordedRequest,
    RepeatedText,
    IdleMessage,
    PromiseWithoutCall,
    DoneButContinuing,
    GreenButContinuing,
    DuplicateWork,
    ProviderFailure,
    UnmovedPage,
    KnownLines,
    RepeatedCommand,
    NoFileWritten,
    ReadHeavyRun,
    TurnsWithoutSuccess,
    RepeatedThought,
    RunBudget,
)
"""All there are; a profile says which are asked, in which order and with what options."""
