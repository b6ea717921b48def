"""How the test suite is run: which pytest processes, in which order, and what their exit codes mean together."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WINDOWED, HEADLESS = Path("/usr/bin/chromium"), Path("/usr/bin/chromium-headless-shell")
# The same engine without windows, of which the other draws one for each page: a fraction of the time of a test.
CHROMIUM = HEADLESS if HEADLESS.exists() else WINDOWED
TESTS, BROWSER_TESTS = "tests", "tests/browser"
SETTINGS = "beachsite.settings.test"
CACHES = ROOT / "var" / "suite"
FAILED, MISUSED, NO_TESTS = 1, 4, 5  # pytest's exit codes: "some failed", "no such call", "collected nothing"


class CannotRun(Exception):
    """A command line that names what is not there, or options that pytest does not take."""


@dataclass(frozen=True)
class Part:
    """One pytest process. ``own``: of tests that are not Beach's, on the settings that their author names."""

    name: str
    arguments: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    own: bool = False


def required(environ: Mapping[str, str]) -> set[str]:
    """What may not be absent (BEACH_REQUIRE); anything else is skipped, loudly, where it is not there."""
    return {word.strip() for word in environ.get("BEACH_REQUIRE", "").split(",") if word.strip()}


def plan(arguments: Sequence[str], *, cores: int) -> list[Part]:
    """The processes for a command line of pytest arguments.

    Browser tests are a process of their own: Playwright's synchronous API keeps an event loop running in the main
    thread, which asynchronous tests and Django's ORM both refuse to live with.
    """
    named = {word: _place(word) for word in _named(arguments)}
    everything = not named or TESTS in named.values()
    browser = [word for word, place in named.items() if place.startswith(BROWSER_TESTS)]
    own = [word for word, place in named.items() if place.split("/")[0] != TESTS]
    other = [word for word in named if word not in (*browser, *own) and named[word] != TESTS]

    def words(chosen: Sequence[str]) -> list[str]:
        return [word for word in arguments if word in chosen or word not in named]

    parts = []
    if everything or other:
        # One more than there are cores: half of what a worker does is waiting for a server, a lease or a database.
        spread = _spread(min(cores, 4) + 1) if everything and not _chooses_workers(arguments) else []
        where = [TESTS] if everything else []
        given = words([] if everything else other)
        parts.append(Part("tests", [*where, f"--ignore={BROWSER_TESTS}", *spread, *given]))
    if everything or browser:
        unsafe = {"DJANGO_ALLOW_ASYNC_UNSAFE": "1"}
        # No more than three: a page that shares its core with three others is slower than the tests wait.
        spread = _spread(min(cores, 2) + 1) if everything and not _chooses_workers(arguments) else []
        where = [BROWSER_TESTS] if everything else []
        given = words([] if everything else browser)
        parts.append(Part("browser tests", [*where, *spread, *given], unsafe))
    if own:
        # An application may be named by its folder or, as for Django's own runner, by its module.
        parts.append(Part("tests of your own", ["--pyargs", *words(own)], own=True))
    return parts


def _named(arguments: Sequence[str]) -> list[str]:
    """The files, folders and modules among the arguments, which pytest tells from the values of its options."""
    if not arguments:
        return []
    # Here and not above: only the suite's own environment has pytest.
    from _pytest.config import UsageError, get_config

    config = get_config()
    config.pluginmanager.load_setuptools_entrypoints("pytest11")
    try:
        return list(config._parser.parse_known_args(list(arguments)).file_or_dir)
    except UsageError as error:
        raise CannotRun(str(error)) from None


def _place(word: str) -> str:
    """Where a named target is, from the checkout if it is inside. Raises ``CannotRun`` where there is none."""
    name = word.split("::", maxsplit=1)[0]
    path = (ROOT / name).resolve()
    if path.exists():
        return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.as_posix()
    try:
        if find_spec(name) is not None:
            return name
    except (ImportError, ValueError):
        pass
    raise CannotRun(
        f"There is no file, folder or module {name!r} here, so nothing was run. "
        "Name one, such as tests/envelopes, shop or shop/tests.py::ShopTests, or none for the whole suite."
    )


def _spread(workers: int) -> list[str]:
    # Some tests take a thousand times as long as others: whoever has none left takes some of those of others.
    return ["-n", str(workers), "--dist", "worksteal"]


def _chooses_workers(options: Sequence[str]) -> bool:
    # A debugger cannot work through a worker's pipes.
    return any(word.startswith(("-n", "--numprocesses", "--pdb", "--trace", "-s")) for word in options)


def verdict(codes: Sequence[int]) -> int:
    """The worst of several exit codes. Collecting nothing is bad only if no part collected anything."""
    told = [code for code in codes if code != NO_TESTS]
    if not told:
        return NO_TESTS
    return max(128 - code if code < 0 else code for code in told)


def run(
    arguments: Sequence[str],
    environ: Mapping[str, str],
    *,
    chromium: Path = CHROMIUM,
    call: Callable[[list[str], dict[str, str]], int] | None = None,
) -> int:
    """Run the suite; the exit code of the whole."""
    call = call or _call
    codes = []
    try:
        parts = plan(arguments, cores=os.cpu_count() or 1)
    except CannotRun as error:
        _say(str(error))
        return MISUSED
    for part in parts:
        if part.name == "browser tests" and not chromium.exists():
            missing = f"no Chromium at {chromium} (Debian: apt-get install chromium)"
            if "browser" in required(environ):
                _say(f"FAILED: the browser tests are required, but there is {missing}.")
                codes.append(1)
            else:
                _say(f"SKIPPED: all browser tests, since there is {missing}.")
            continue
        _say(f"{part.name}: pytest {' '.join(part.arguments)}")
        settings = {} if part.own else {"DJANGO_SETTINGS_MODULE": SETTINGS}
        codes.append(_run(part, {**environ, **settings, **part.environment}, call))
    return verdict(codes)


def _run(part: Part, environ: dict[str, str], call: Callable[[list[str], dict[str, str]], int]) -> int:
    """One part; the exit code of its second try where a few of its tests failed and may be tried again."""
    cache = CACHES / part.name.replace(" ", "_")
    (failures := cache / "v" / "cache" / "lastfailed").unlink(missing_ok=True)
    keeping = ["-o", f"cache_dir={cache}"]
    code = call([*part.arguments, *keeping], environ)
    failed = _failed(failures)
    if code != FAILED or not 0 < len(failed) <= int(environ.get("BEACH_AGAIN", "0")):
        return code
    _say(f"{part.name}: {len(failed)} failed. Once more, alone, since BEACH_AGAIN allows it.")
    again = call(
        [*part.arguments, *keeping, "--last-failed", "--last-failed-no-failures=none", "-n", "0"], environ
    )
    # Where the second try did not come to its end, none is known to have passed.
    left = failed if again not in (0, FAILED) else _failed(failures)
    for name in failed:
        _say(f"FAILED {'TWICE' if name in left else 'ONCE, and passed alone'}: {name}")
    return again


def _failed(failures: Path) -> list[str]:
    return sorted(json.loads(failures.read_text())) if failures.exists() else []


def _call(arguments: list[str], environ: dict[str, str]) -> int:
    # Workers and servers by the hundred import the same modules: compiled once, whatever the shell says.
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-m", "pytest", *arguments]
    return subprocess.run(command, check=False, cwd=ROOT, env=environ).returncode  # noqa: S603 - our own interpreter


def _say(text: str) -> None:
    sys.stdout.write(f"==== {text}\n")
    sys.stdout.flush()
