"""Processes of the bench: each on its core, measured from outside, gone when the bench is."""

from __future__ import annotations

import contextlib
import ctypes
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

from beachsite.suite import ROOT

CORES = sorted(os.sched_getaffinity(0))
SERVER_CORE, CLIENT_CORE = CORES[0], CORES[-1]

_FOREIGN = (
    "BEACH_",
    "DJANGO_",
    "DATABASE_URL",
    "REDIS_URL",
    "ANTHROPIC_",
    "SECRET_KEY",
    "ALLOWED_HOSTS",
    "CSRF_",
)
"""What a developer's shell may hold and a measured server must not see."""
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


class BenchError(Exception):
    """A row could not be measured; the sentence says why."""


def clean_environment(more: Mapping[str, str]) -> dict[str, str]:
    """This process's environment without what would configure the product, and with `more`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
    return {**kept, "BEACH_NO_BOOTSTRAP": "1", "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", **more}


class Process:
    """A child on one core. Ends with `stop`, or with the bench, however that ends."""

    def __init__(
        self, command: Sequence[str], environ: Mapping[str, str], log: Path, *, core: int = SERVER_CORE
    ) -> None:
        self.log = log

        def prepare() -> None:
            os.sched_setaffinity(0, {core})
            _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

        with log.open("ab") as out:
            self.child = subprocess.Popen(
                command,
                cwd=ROOT,
                env=dict(environ),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=prepare,  # noqa: PLW1509  # no thread of the bench runs when a process is started
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def cpu(self) -> float:
        """Seconds of processor time so far, to the nanosecond: the process's own clock (clock_getcpuclockid(3))."""
        return time.clock_gettime((~self.child.pid << 3) | 2)

    def resident(self) -> int:
        """Bytes in memory."""
        pages = int(Path(f"/proc/{self.child.pid}/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def tail(self, lines: int = 20) -> str:
        """The end of what it has printed."""
        return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])

    def answers(self, port: int, path: str = "/healthz", *, seconds: float = 60) -> None:
        """Wait until it answers there. Raises BenchError with its log when it does not."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.child.poll() is None:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            with contextlib.suppress(OSError), contextlib.closing(connection):
                connection.request("GET", path)
                if connection.getresponse().status == 200:
                    return
            time.sleep(0.05)
        raise BenchError(f"A server did not come up:\n{self.tail()}")

    def listens(self, port: int, *, seconds: float = 60) -> None:
        """Wait until it takes connections there. Raises BenchError with its log when it does not."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.child.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5):
                return
            time.sleep(0.05)
        raise BenchError(f"A server did not come up:\n{self.tail()}")

    def kill(self) -> None:
        """End it at once; fine when it has ended."""
        if self.child.poll() is None:
            os.killpg(self.child.pid, signal.SIGKILL)
            self.child.wait()

    def stop(self) -> None:
        """Ask it to end, and see to it."""
        if self.child.poll() is not None:
            return
        os.killpg(self.child.pid, signal.SIGTERM)
        try:
            self.child.wait(12)
        except subprocess.TimeoutExpired:
            self.kill()


@contextlib.contextmanager
def busy_loop(log: Path) -> Iterator[None]:
    """Something else that wants the server's core all the time, with the same priority."""
    with Process([sys.executable, "-c", "while True: pass"], clean_environment({}), log):
        yield


def run(
    command: Sequence[str], environ: Mapping[str, str], *, core: int | None = None, seconds: float = 600
) -> str:
    """What a command prints. Raises BenchError with what it says when it fails."""
    pinned = ["taskset", "-c", str(core), *command] if core is not None else list(command)
    done = subprocess.run(
        pinned, cwd=ROOT, env=dict(environ), capture_output=True, text=True, timeout=seconds, check=False
    )
    if done.returncode:
        raise BenchError(f"{' '.join(command[1:4])} failed:\n{done.stderr[-2000:]}")
    return done.stdout
