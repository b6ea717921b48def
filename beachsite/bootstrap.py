"""Make the virtual environment that the project runs in, and move into it.

Runs on whatever Python a person has, before anything is installed: only the standard library, and no syntax that an old
Python could not even read, since its owner must get the sentence below and not a SyntaxError.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

LEAST = (3, 11)
ROOT = Path(__file__).resolve().parent.parent
# Words by which pip says that it reached nobody.
OFFLINE = (
    "name resolution",
    "failed to establish a new connection",
    "network is unreachable",
    "connection refused",
    "timed out",
    "getaddrinfo failed",
    "nodename nor servname",
)


def ensure(argv: list[str]) -> None:
    """Return inside a complete environment, or replace this process by one that is."""
    if os.environ.get("BEACH_NO_BOOTSTRAP") == "1":
        return
    refuse_old(sys.version_info[:3])
    environment = Environment(ROOT)
    environment.prepare(groups_for(argv, os.environ.get("BEACH_EXTRAS", "")))
    if Path(sys.prefix).resolve() != environment.path.resolve():
        sys.stdout.flush()
        sys.stderr.flush()
        python = str(environment.python)
        os.execv(python, [python, *sys.orig_argv[1:]])


def refuse_old(version: tuple[int, ...]) -> None:
    """Stop with a sentence when this Python is too old for the project."""
    if version[:2] < LEAST:
        have, least = (".".join(map(str, numbers)) for numbers in (version, LEAST))
        fail(f"Beach needs Python {least} or newer; this is {have}. Try: python{least} {' '.join(sys.argv)}")
    if os.name == "nt":
        fail("Beach runs on Linux and macOS. On Windows, use it inside WSL.")


def groups_for(argv: list[str], extras: str) -> set[str]:
    """The optional dependency groups that a command needs: `demo` for the site, `test` for the suite, and what
    BEACH_EXTRAS asks for."""
    groups = {"demo"} | {word.strip() for word in extras.split(",") if word.strip()}
    return groups | {"test"} if argv[1:2] == ["test"] else groups


def fail(sentence: str, details: str = "") -> NoReturn:
    """End the program with one sentence that says what to do."""
    raise SystemExit(f"{details}\n\n{sentence}".strip())


class Environment:
    """The folder `.venv` of one checkout, and the stamp in it that says what was installed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.path = root / ".venv"
        self.python = self.path / "bin" / "python"
        self.stamp = self.path / "beach-stamp"

    def prepare(self, groups: set[str]) -> None:
        """Install what is missing. Nearly free when nothing is."""
        project = self._project()
        if self.is_fresh(project, groups):
            return
        with self._alone():
            # Whoever held the lock before may have done it all.
            if not self.is_fresh(project, groups):
                self._build(project, groups)

    def is_fresh(self, project: Project, groups: set[str]) -> bool:
        """Whether these groups, at these versions, are known to be installed."""
        digest, installed = self._read_stamp()
        return digest == project.digest and groups <= installed and self.python.exists()

    def _project(self) -> Project:
        return Project(self.root / "pyproject.toml", self.root / "constraints.txt")

    def _read_stamp(self) -> tuple[str, set[str]]:
        try:
            digest, *groups = self.stamp.read_text(encoding="utf-8").split()
        except (OSError, ValueError):
            # None yet, or one that was cut: the same as nothing installed.
            return "", set()
        return digest, set(groups)

    def _build(self, project: Project, groups: set[str]) -> None:
        # What someone needed before, they need again.
        had = self._read_stamp()[1] & project.groups
        new = sorted(groups - had)
        groups = groups | had
        requirements = project.requirements(groups)
        started = time.monotonic()
        adds = self._read_stamp()[0] == project.digest and self.python.exists()
        doing = (
            f"Adding the packages for {' and '.join(new)} to .venv"
            if adds
            else "Preparing .venv with its packages"
        )
        say(f"{doing} (once; half a minute, on a busy machine minutes) ... ", end="")
        # From here to the new stamp, a start that is cut leaves an environment that the next one mends.
        self.stamp.unlink(missing_ok=True)
        if not self._is_usable():
            self._create()
        self._install(requirements, project.constraints)
        draft = self.stamp.with_suffix(".draft")
        draft.write_text("\n".join([project.digest, *sorted(groups)]), encoding="utf-8")
        draft.replace(self.stamp)
        say(f"done in {time.monotonic() - started:.0f} s.")

    def _is_usable(self) -> bool:
        """An environment whose Python is gone, or another one than this, cannot be installed into."""
        if not self.python.exists():
            return False
        probe = "import pip, sys; print('%d.%d' % sys.version_info[:2])"
        answer = run([str(self.python), "-c", probe])
        return answer.returncode == 0 and answer.stdout.strip() == python_version()

    def _create(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        answer = run([sys.executable, "-m", "venv", str(self.path)])
        if answer.returncode:
            shutil.rmtree(self.path, ignore_errors=True)
            fail(
                "This Python cannot make a virtual environment. On Debian and Ubuntu: apt-get install python3-venv",
                answer.stdout,
            )

    def _install(self, requirements: list[str], constraints: Path) -> None:
        pip = [
            str(self.python),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-input",
            "--disable-pip-version-check",
        ]
        answer = run([*pip, "--constraint", str(constraints), *requirements])
        if not answer.returncode:
            return
        tail = "\n".join(answer.stdout.strip().splitlines()[-15:])
        if any(word in answer.stdout.lower() for word in OFFLINE):
            fail(
                "The packages could not be fetched: is this machine online? Then run the same command again.",
                tail,
            )
        fail("pip could not install the packages that Beach needs; its last words are above.", tail)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the lock of this checkout. The kernel lets go of it when its holder dies, however it dies."""
        import fcntl

        folder = self.root / "var"
        folder.mkdir(mode=0o700, exist_ok=True)
        with (folder / "bootstrap.lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                say("Another start is preparing .venv; waiting for it.")
                fcntl.flock(file, fcntl.LOCK_EX)
            yield


class Project:
    """What the project's files say must be installed."""

    def __init__(self, metadata: Path, constraints: Path) -> None:
        import tomllib

        self.constraints = constraints
        table = tomllib.loads(metadata.read_text(encoding="utf-8"))["project"]
        self._always: list[str] = table["dependencies"]
        self._optional: dict[str, list[str]] = table["optional-dependencies"]
        self.groups = set(self._optional)
        # Only what bears on packages: a changed linter rule is no reason to install anything.
        text = json.dumps(
            [python_version(), self._always, self._optional, constraints.read_text(encoding="utf-8")]
        )
        self.digest = hashlib.sha256(text.encode()).hexdigest()

    def requirements(self, groups: set[str]) -> list[str]:
        """The requirements of the project itself and of some optional groups."""
        unknown = ", ".join(sorted(groups - self.groups))
        if unknown:
            fail(f"BEACH_EXTRAS names {unknown}; the groups are: {', '.join(sorted(self.groups))}.")
        return self._always + [item for name in sorted(groups) for item in self._optional[name]]


def python_version() -> str:
    """Major and minor: what a virtual environment is bound to."""
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run to the end, with errors and output in one text."""
    return subprocess.run(command, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def say(text: str, end: str = "\n") -> None:
    """Tell the person, but not whoever reads the command's output."""
    print(text, end=end, file=sys.stderr, flush=True)
