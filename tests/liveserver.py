"""A real server for tests: `manage.py demo` in a process of its own, on its own port and data, that can be killed."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from beachsite.serving import port_is_free
from tests import nursery

# What a developer's shell may hold and a test server must not see.
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

PASSWORD = "a sound password"
ACCOUNTS = {"grace": True, "ann": False, "alma": False}
"""Who can sign in to servers of the fixtures with that password, and whether they are superusers."""


class Server:
    """The demo server, or what another command of `manage.py` starts. `start`, `stop`, `kill` and `start` again: same
    data, same port."""

    def __init__(
        self,
        data: Path,
        *,
        port: int = 0,
        environ: Mapping[str, str] | None = None,
        command: Sequence[str] = (),
    ) -> None:
        self.data = data
        self.command = command
        self.port = port or free_port()
        self.log = data.with_name(f"{data.name}.log")
        self.environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)},
            "BEACH_DATA": str(data),
            "BEACH_NO_BOOTSTRAP": "1",
            "BEACH_LEASE_SECONDS": "2",
            "PYTHONUNBUFFERED": "1",
            **(environ or {}),
        }
        self.process: nursery.Process | None = None
        # A traceback in the log fails the test, unless the test means it.
        self.may_fail = False

    @property
    def url(self) -> str:
        """The origin, without a slash at the end."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def ws_url(self) -> str:
        """The origin for sockets."""
        return f"ws://127.0.0.1:{self.port}"

    def start(self, *, seconds: float = 120) -> None:
        """Return when the server answers; raise with the log when it does not come up."""
        assert self.process is None, "the server runs already"
        demo = ("demo", "--data", str(self.data), "--no-input")
        command = [*(self.command or demo), "--port", str(self.port)]
        # To a file, not a pipe: nobody reads while a test runs, and a full pipe would stop the server.
        with self.log.open("ab") as log:
            self.process = nursery.start(command, self.environ, log)
        for _ in range(int(seconds / 0.05)):
            if self.answers():
                return
            try:
                self.process.wait(0.05)
            except subprocess.TimeoutExpired:
                continue
            break
        self.kill()
        raise AssertionError(f"The server did not come up. Its log:\n{self.tail()}")

    def answers(self) -> bool:
        """Whether /healthz says 200 now."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def stop(self) -> None:
        """Ask it to end, as a supervisor does; wait until it has."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """kill -9, children included. Fine when it is dead already."""
        self._end(signal.SIGKILL)

    def restart(self) -> None:
        """kill -9 and start again."""
        self.kill()
        self.start()

    def manage(self, *arguments: str) -> str:
        """What a management command prints, run beside the server on the same data."""
        answer = nursery.run(arguments, self.environ)
        assert answer.returncode == 0, f"{' '.join(arguments)} failed:\n{answer.stdout}\n{answer.stderr}"
        return answer.stdout

    def add_user(self, name: str, password: str, *, staff: bool = False) -> None:
        """An account whose password the test knows."""
        self.add_users({name: staff}, password)

    def add_users(self, names: Mapping[str, bool], password: str = PASSWORD) -> None:
        """The same for several: whether each is a superuser."""
        made = (
            f"User.objects.{'create_superuser' if staff else 'create_user'}({name!r}, password={password!r})"
            for name, staff in names.items()
        )
        script = "\n".join(("from django.contrib.auth.models import User", *made))
        self.manage("shell", "-v", "0", "-c", script)

    def tail(self, lines: int = 60) -> str:
        """The end of the server's log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def _end(self, how: signal.Signals) -> None:
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, how)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            raise AssertionError(f"The server did not end on {how.name}. Its log:\n{self.tail()}") from None
        finally:
            self.process = None


# Below what Linux gives to outgoing connections, so that none is given one between the look and the server's bind; each
# process of the suite begins elsewhere.
_PORTS = range(10_000, 32_000)
_ports = itertools.islice(itertools.cycle(_PORTS), os.getpid() * 101 % len(_PORTS), None)


def free_port() -> int:
    """A loopback port that nobody listens on, and that this process has not asked for lately."""
    return next(port for port in _ports if port_is_free(port))


@contextlib.contextmanager
def running(data: Path, *, environ: Mapping[str, str] | None = None) -> Iterator[Server]:
    """A started server that is gone afterwards, whatever happened in between."""
    server = Server(data, environ=environ)
    try:
        server.start()
        yield server
    finally:
        server.kill()
