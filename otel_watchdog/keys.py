"""Who a root cause is, whichever detector found it."""

from collections.abc import Mapping

import xxhash


def key_of(detector: str, evidence: Mapping[str, str | int | float]) -> str:
    """Return a digest of the error in the evidence, else of the tool and its arguments.

    Where neither is there, it is of the detector and the tool.

    >>> call = {"tool": "ls", "arguments": "{}", "count": 3}
    >>> key_of("repeated_tool_call", call) == key_of("unchanged_result", call | {"count": 4})
    True
    """
    tool, arguments = evidence.get("tool"), evidence.get("arguments")
    if evidence.get("error"):
        cause = f"error\0{evidence['error']}"
    elif tool is not None and arguments is not None:
        cause = f"call\0{tool}\0{arguments}"
    else:
        cause = f"{detector}\0{tool or evidence.get('tools', '')}"
    return xxhash.xxh3_64_hexdigest(cause.encode("utf-8", "surrogatepass"))
