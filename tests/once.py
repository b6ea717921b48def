"""What costs time to make and is only read: made by the first worker of a run that wants it, for all of them."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def making(folder: Path, name: str) -> Path:
    """Where it is until it is complete."""
    return folder / f"{name}-making" / name


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """The file or folder that ``make`` has made at the path it is given. Others wait for it; where it failed, each that
    asks tries again."""
    base = factory.getbasetemp()
    # Each worker has a folder of its own in that of the run.
    folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    made, path = folder / name, making(folder, name)
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            shutil.rmtree(path.parent, ignore_errors=True)
            path.parent.mkdir()
            make(path)
            path.rename(made)
    return made
