"""Takes the pictures of the documentation: `make screenshots`.

Starts Phoenix on loopback, sends it a corrected run, and looks at it with headless Chromium.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.integration.backends.conftest import (  # noqa: E402 - the repository's own tests
    ENVIRONMENTS,
    PROJECT,
    ask,
    eventually,
    run_agent,
    served,
)

PORT, GRPC_PORT = 16006, 14317
URL = f"http://127.0.0.1:{PORT}"
PICTURES = ROOT / "docs" / "_static"


def shoot(chromium: str, url: str, picture: Path, profile: str) -> None:
    """Take a picture of a page."""
    subprocess.run(  # noqa: S603 - a browser, on a page of ours
        [
            chromium,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--window-size=1500,950",
            "--virtual-time-budget=25000",
            f"--user-data-dir={profile}",
            f"--screenshot={picture}",
            url,
        ],
        check=True,
        timeout=180,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def main() -> None:
    """Take the pictures."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("chromium is not installed")
    python = ENVIRONMENTS / "phoenix" / "bin" / "python"
    server = ROOT / "tests" / "integration" / "backends" / "serve_phoenix.py"
    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "PHOENIX_HOST": "127.0.0.1",
            "PHOENIX_PORT": str(PORT),
            "PHOENIX_GRPC_PORT": str(GRPC_PORT),
            "PHOENIX_WORKING_DIR": folder,
            "PHOENIX_DISABLE_AGENT_ASSISTANT": "true",
            "PHOENIX_ENABLE_MCP_SERVER": "false",
            "PHOENIX_TELEMETRY_ENABLED": "false",
            "PHOENIX_ALLOW_EXTERNAL_RESOURCES": "false",
        }
        with served([str(python), str(server)], f"{URL}/healthz", Path(folder), **settings):
            run_agent(f"{URL}/v1/traces")

            def look() -> object:
                spans = ask(f"{URL}/v1/projects/{PROJECT}/spans?limit=200")["data"]
                ours = [span for span in spans if span["name"].startswith("watchdog-nudge")]
                return ours[0] if ours else None

            span = eventually(look)
            (project,) = [
                one for one in ask(f"{URL}/v1/projects")["data"] if one["name"] == PROJECT
            ]
            trace = span["context"]["trace_id"]
            page = f"{URL}/projects/{project['id']}/traces/{trace}?selectedSpanNodeId={span['id']}"
            picture = PICTURES / "phoenix-correction.png"
            shoot(chromium, page, picture, os.path.join(folder, "profile"))  # noqa: PTH118
            print(picture.relative_to(ROOT))  # noqa: T201 - a script


if __name__ == "__main__":
    main()
