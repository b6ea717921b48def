"""An official core as a process: it is asked a program a line, and answers a line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PYTHON_CORE = (sys.executable, "-I", str(Path(__file__).with_name("oracle.py")))
"""The official Python core; one argument more is the version of its catalog."""


class Oracle:
    """The process; `ask` it, and `close` it."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def ask(self, program: list[Any]) -> dict[str, Any]:
        """What it makes of a program: `{errors, dataModel, nodes}` of the surface `s`, or `{crash}`."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(program) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(timeout=10)
