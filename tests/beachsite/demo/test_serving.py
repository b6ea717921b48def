"""The command as a person runs it: a process of its own, from an empty folder to an answer, and down again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

from beachsite import serving

ROOT = Path(__file__).resolve().parents[3]


@contextmanager
def demo(data: Path, output: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    environment = {
        **os.environ,
        "BEACH_NO_BOOTSTRAP": "1",
        "DJANGO_SETTINGS_MODULE": "beachsite.settings.local",
    }
    for name in ("DATABASE_URL", "REDIS_URL", "ANTHROPIC_API_KEY", "BEACH_DATA"):
        environment.pop(name, None)
    command = [sys.executable, "manage.py", "demo", "--no-input", "--port", str(port), "--data", str(data)]
    with output.open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def said(output: Path, words: str, process: subprocess.Popen[bytes]) -> str:
    """Wait for the words; returns all that was said."""
    until = time.monotonic() + 180
    while time.monotonic() < until:
        text = output.read_text(encoding="utf-8")
        if words in text:
            return text
        assert process.poll() is None, text
        time.sleep(0.05)
    raise AssertionError(output.read_text(encoding="utf-8"))


def test_up_from_nothing_and_down_on_a_signal(tmp_path: Path) -> None:
    port = serving.free_port_after(21_000 + os.getpid() % 5_000)
    assert port is not None
    output = tmp_path / "log"

    with demo(tmp_path / "data", output, port) as process:
        text = said(output, "Stop with Ctrl-C.", process)
        with urlopen(f"http://127.0.0.1:{port}/healthz") as answer:
            assert answer.status == 200
        process.send_signal(signal.SIGTERM)
        code = process.wait(timeout=90)

    assert "Accounts (shown once" in text
    assert f"http://127.0.0.1:{port}/\n" in text
    assert code == 0
    assert "Traceback" not in output.read_text(encoding="utf-8")
