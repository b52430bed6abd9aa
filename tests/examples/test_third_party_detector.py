"""The worked package of a detector of one's own: installed, found, and its own tests run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "examples" / "third_party_detector"
SECONDS = 50


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Return a folder with the package installed in it, without a network."""
    folder = tmp_path_factory.mktemp("installed")
    build = "import os, sys, hatchling.build; os.chdir(sys.argv[1]);"
    build += "print(hatchling.build.build_wheel(sys.argv[2]))"
    wheel = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", build, str(PACKAGE), str(folder)],
        capture_output=True,
        text=True,
        check=True,
        timeout=SECONDS,
    ).stdout.splitlines()[-1]
    place = folder / "packages"
    subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "zipfile", "-e", str(folder / wheel), str(place)],
        check=True,
        timeout=SECONDS,
    )
    return place


def test_its_own_tests_pass(installed, tmp_path):
    """Where it is installed, beside otel-watchdog."""
    done = subprocess.run(  # noqa: S603 - our own program
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"),
            *("--rootdir", str(tmp_path), "-c", os.devnull, str(PACKAGE / "tests")),
            *("--doctest-modules", str(installed / "budget_detector")),
        ],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )

    assert done.returncode == 0, done.stdout
    assert "6 passed" in done.stdout
