"""Writes the table of frameworks into README, from what the tests found.

python tests/integration/adapters/table.py .venv-adapters/results.json
"""

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
RESULTS = Path(__file__).with_name("results.json")
"""What was found last; committed."""
BEGIN = "<!-- adapters: written by tests/integration/adapters/table.py -->"
END = "<!-- end of adapters -->"
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
    """Return the table as Markdown."""
    lines = [
        "| framework | version | " + " | ".join(COLUMNS) + " |",
        "|---|---|" + "---|" * len(COLUMNS),
    ]
    for framework, entry in sorted(found.items()):
        cells = [entry["works"].get(column, "-") for column in COLUMNS]
        lines.append(f"| {framework} | {entry['version']} | " + " | ".join(cells) + " |")
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
