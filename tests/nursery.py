"""Processes of `manage.py` that a test starts, forked from one that has imported what all of them import.

To import Django, Twisted and the others takes longer than the rest of a start, and a run of the suite starts hundreds
of processes. Forked is only what knows nothing of settings, of our own packages the engine (R7): the others, the
settings and the environment are read by each process itself, as by one that is started from nothing (as in
tests/beachsite/demo/test_serving.py).
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NoReturn

ROOT = Path(__file__).resolve().parent.parent

IMPORTED = (
    "a2a.types", "a2ui", "a2ui.compose.beach", "a2ui.programs", "authres", "autobahn.twisted.websocket",
    "babel.dates", "babel.numbers", "bleach.css_sanitizer", "channels.db", "channels.generic.websocket",
    "channels_redis.core", "cryptography.fernet", "csp.middleware", "daphne.http_protocol",
    "daphne.ws_protocol", "dj_database_url", "django.contrib.admin", "django.contrib.auth.hashers",
    "django.contrib.auth.validators", "django.contrib.sessions.middleware", "django.core.handlers.asgi",
    "django.core.management.commands.migrate", "django.core.management.commands.runserver",
    "django.db.backends.postgresql.base", "django.db.backends.sqlite3.base",
    "django.db.migrations.autodetector", "django.db.migrations.executor", "django.db.migrations.writer",
    "django.db.models", "django.forms", "django.middleware.locale", "django.template.defaulttags",
    "django.test", "django.urls", "django.views.generic", "django_htmx.middleware", "django_stubs_ext",
    "google.protobuf.json_format", "httpx", "jiter", "jsonschema", "limits.aio", "limits.strategies", "lucide",
    "mailparser_reply", "markdown_it", "opentelemetry.trace.propagation.tracecontext", "orjson", "PIL.Image",
    "psycopg_pool", "pydantic.networks", "pydantic.root_model", "re2", "regex", "rfc8785", "service_identity",
    "standardwebhooks", "structlog", "structlog.stdlib", "twisted.internet.endpoints", "twisted.internet.tcp",
    "twisted.internet.unix", "twisted.web.http", "whitenoise.middleware",
)  # fmt: skip
"""What serving imports, as far as it can be imported before there are settings."""

REQUEST = 1 << 20
"""Bytes of a request, at most: words and an environment."""


class Process:
    """What tests use of `subprocess.Popen`: the process is the leader of a session of its own."""

    def __init__(self, told: socket.socket) -> None:
        self._told = told
        self._lock = threading.Lock()
        self.returncode: int | None = None
        self.pid = int(told.recv(32))

    def poll(self) -> int | None:
        """The exit code; None while it runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        """The exit code; raises `subprocess.TimeoutExpired`."""
        with self._lock:
            if self.returncode is None:
                self._told.settimeout(timeout)
                try:
                    self.returncode = int(self._told.recv(32))
                except (TimeoutError, BlockingIOError):
                    raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0) from None
                self._told.close()
            return self.returncode

    def send_signal(self, number: signal.Signals) -> None:
        """Nothing where it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class _Nursery:
    """The process that forks, and the way to it. Started when the first one is asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._door: socket.socket | None = None

    def start(self, asked: bytes, out: IO[bytes], errors: IO[bytes]) -> Process:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            handed = [theirs.fileno(), out.fileno(), errors.fileno()]
            socket.send_fds(self._way(), [asked], handed)
        return Process(ours)

    def _way(self) -> socket.socket:
        with self._lock:
            if self._door is None:
                self._door, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                with theirs:
                    number = theirs.fileno()
                    self._process = subprocess.Popen(
                        [sys.executable, "-m", "tests.nursery", str(number)],
                        cwd=ROOT,
                        stdin=subprocess.DEVNULL,
                        pass_fds=[number],
                        start_new_session=True,
                    )
            return self._door

    def close(self) -> None:
        """It ends when nobody can ask it any more; what it has forked goes on."""
        with self._lock:
            if self._door is not None and self._process is not None:
                self._door.close()
                self._process.wait()
            self._door = self._process = None


_nursery = _Nursery()
atexit.register(_nursery.close)


def start(
    words: Sequence[str],
    environ: Mapping[str, str],
    out: IO[bytes],
    errors: IO[bytes] | None = None,
    *,
    module: str = "",
) -> Process:
    """`manage.py`, or a ``module`` in its place, with these words and exactly this environment.

    ``errors`` go where ``out`` goes if not elsewhere.
    """
    asked = {"module": module, "words": list(words), "environ": dict(environ)}
    return _nursery.start(json.dumps(asked).encode(), out, errors or out)


def run(
    words: Sequence[str], environ: Mapping[str, str], *, module: str = "", timeout: float | None = None
) -> subprocess.CompletedProcess[str]:
    """The same, until it has ended."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        code = start(words, environ, out, errors, module=module).wait(timeout)
        told = []
        for file in (out, errors):
            file.seek(0)
            told.append(file.read().decode())
    return subprocess.CompletedProcess([module or "manage.py", *words], code, *told)


# -- in the process that forks -----------------------------------------------------------------------------------


def _requests(door: socket.socket) -> Iterator[dict[str, Any]]:
    """Yields in each forked process, once; ends in the first one, when nobody can ask any more."""
    while True:
        asked, (*handed,), _, _ = socket.recv_fds(door, REQUEST, 3)
        if not asked:
            return
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        if os.fork() == 0:
            told = socket.socket(fileno=handed[0])
            child = os.fork()
            if child == 0:
                os.setsid()
                told.send(str(os.getpid()).encode())
                for number, source in enumerate((os.open(os.devnull, os.O_RDONLY), *handed[1:])):
                    os.dup2(source, number)
                told.detach()
                door.detach()
                os.closerange(3, 1024)
                yield json.loads(asked)
                return
            _keep(child, told)
        for number in handed:
            os.close(number)


def _keep(child: int, told: socket.socket) -> NoReturn:
    """Wait in place of whoever asked: only a parent hears how a process has ended."""
    _, status = os.waitpid(child, 0)
    # Where nobody waits any more, nobody needs to know.
    with contextlib.suppress(OSError):
        told.send(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _main() -> None:
    for module in IMPORTED:
        importlib.import_module(module)
    from django.conf import settings

    assert not settings.configured and "twisted.internet.reactor" not in sys.modules
    assert threading.active_count() == 1
    gc.collect()
    gc.freeze()
    for request in _requests(socket.socket(fileno=int(sys.argv[1]))):
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.environ.clear()
        os.environ.update(request["environ"])
        sys.argv = [request["module"] or "manage.py", *request["words"]]
        for name, number in (("stdout", 1), ("stderr", 2)):
            file = io.FileIO(number, "w", closefd=False)
            stream = io.TextIOWrapper(file, "utf-8", "backslashreplace", write_through=True)
            setattr(sys, name, stream)
        if request["module"]:
            runpy.run_module(request["module"], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path("manage.py", run_name="__main__")


if __name__ == "__main__":
    _main()
