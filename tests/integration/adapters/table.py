"""Writes the table of frameworks into README, from what the tests found.

python tests/integration/adapters/table.py .venv-adapters/results.json
"""

import json
import sys
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
RESULTS = Path(__file__).with_name("results.json")
"""What was found last; committed."""
BEGIN = "<!-- adapters: written by tests/integration/adapters/table.py -->"
END = "<!-- end of adapters -->"
LACKING = (
    "`-` stands where the framework or its tracing does not allow it, or where it was not tried:"
)
COLUMNS = (
    "nudge",
    "ladder",
    "heeds",
    "halt",
    "resume",
    "async",
    "streaming",
    "threads",
    "retry",
    "sub-agents",
    "withdraw",
)


def rendered(found: dict[str, Any]) -> str:
    """Return the table as Markdown, and below it why a column is not tried or not allowed."""
    lines = [
        "| framework | version | " + " | ".join(COLUMNS) + " |",
        "|---|---|" + "---|" * len(COLUMNS),
    ]
    for framework, entry in sorted(found.items()):
        cells = [entry["works"].get(column, "-") for column in COLUMNS]
        lines.append(f"| {framework} | {entry['version']} | " + " | ".join(cells) + " |")
    lines += ["", LACKING, ""]
    for framework, entry in sorted(found.items()):
        columns: dict[str, list[str]] = {}
        for column, why in entry["lacks"].items():
            columns.setdefault(why, []).append(column)
        said = "; ".join(f"{', '.join(each)}: {why}" for why, each in columns.items())
        lines += (
            textwrap.wrap(f"- {framework}: {said}.", 120, subsequent_indent="  ") if said else []
        )
    return "\n".join(lines)


def main() -> None:
    """Take over the results that the command line names, and write the table."""
    found = json.loads(Path(sys.argv[1] if len(sys.argv) > 1 else RESULTS).read_text("utf-8"))
    RESULTS.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", "utf-8")
    readme = ROOT / "README.md"
    before, _, rest = readme.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    readme.write_text(f"{before}{BEGIN}\n{rendered(found)}\n{END}{after}", "utf-8")


if __name__ == "__main__":
    main()
