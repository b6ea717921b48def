"""`manage.py test`: which processes it starts, and what their exit codes mean together."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from django.core.management import call_command

from beachsite import suite
from tests import shared

ABSENT = Path("/nonexistent/chromium")


def arguments(*given: str, cores: int = 2) -> list[tuple[str, list[str]]]:
    return [(part.name, part.arguments) for part in suite.plan(given, cores=cores)]


def test_everything_is_two_processes_and_the_first_is_spread_over_the_cores() -> None:
    assert arguments() == [
        ("tests", ["tests", "--ignore=tests/browser", "-n", "3", "--dist", "worksteal"]),
        ("browser tests", ["tests/browser", "-n", "3", "--dist", "worksteal"]),
    ]


def test_options_reach_both_and_a_chosen_number_of_workers_is_kept() -> None:
    assert arguments("-k", "approval", "-n0") == [
        ("tests", ["tests", "--ignore=tests/browser", "-k", "approval", "-n0"]),
        ("browser tests", ["tests/browser", "-k", "approval", "-n0"]),
    ]


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("tests/beachsite/test_suite.py::test_x", "tests"),
        ("tests/browser/conftest.py", "browser tests"),
    ],
)
def test_a_named_file_starts_only_the_process_that_it_belongs_to(target: str, name: str) -> None:
    parts = suite.plan([target, "-x"], cores=2)

    assert [part.name for part in parts] == [name]
    assert target in parts[0].arguments
    assert "-n" not in parts[0].arguments


@pytest.mark.parametrize(
    "target", ["docs/example/helpdesk", "docs/example/helpdesk/tests.py::Some", "envelopes"]
)
def test_what_is_not_ours_is_run_alone_as_it_is_given(target: str) -> None:
    assert arguments("-x", target, "-k", "approval") == [
        ("tests of your own", ["--pyargs", "-x", target, "-k", "approval"])
    ]


def test_an_application_is_found_by_its_module_too() -> None:
    assert arguments("beachsite.demo") == [("tests of your own", ["--pyargs", "beachsite.demo"])]


def test_what_belongs_to_several_processes_goes_to_each_of_them() -> None:
    assert arguments("docs/example", "tests/a2ui", "-x", "tests/browser/conftest.py") == [
        ("tests", ["--ignore=tests/browser", "tests/a2ui", "-x"]),
        ("browser tests", ["-x", "tests/browser/conftest.py"]),
        ("tests of your own", ["--pyargs", "docs/example", "-x"]),
    ]


@pytest.mark.parametrize("named", ["tests", "tests/", "./tests"])
def test_the_folder_of_all_tests_is_everything(named: str) -> None:
    assert arguments(named, "-x") == arguments("-x")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["shpo"], "There is no file, folder or module 'shpo' here"),
        (["-x", "shpo"], "'shpo'"),
        (["tests/envelops", "-k", "approval"], "'tests/envelops'"),
        (["tests/a2ui", "shpo.tests"], "'shpo.tests'"),
        (["beachsite.shpo"], "'beachsite.shpo'"),
        (["-n", "many"], "invalid parse_numprocesses value"),
    ],
)
def test_what_is_not_there_is_refused_and_nothing_runs(
    given: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def call(words: list[str], environ: dict[str, str]) -> int:
        raise AssertionError(words)

    assert suite.run(given, {}, call=call) == suite.MISUSED
    assert told in capsys.readouterr().out


def test_ours_never_meet_the_settings_of_the_machine_and_others_get_what_they_ask_for() -> None:
    ran: dict[str, str | None] = {}

    def call(words: list[str], environ: dict[str, str]) -> int:
        ran[words[0]] = environ.get("DJANGO_SETTINGS_MODULE")
        return 0

    named = {"DJANGO_SETTINGS_MODULE": "shop.settings"}
    assert suite.run(["tests/a2ui", "docs/example"], named, call=call) == 0
    assert ran == {"--ignore=tests/browser": "beachsite.settings.test", "--pyargs": "shop.settings"}


def test_the_tests_of_a_new_agent_run_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    call_command("beach", "new-agent", "shop", stdout=StringIO())
    settings = "from beachsite.settings.test import *\nINSTALLED_APPS = [*INSTALLED_APPS, 'shop']\n"
    (tmp_path / "shop_settings.py").write_text(settings)
    ran = tmp_path / "ran.xml"
    environ = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(tmp_path), str(suite.ROOT)]),
        "DJANGO_SETTINGS_MODULE": "shop_settings",
    }
    # Beach's own configuration, as for a folder inside the checkout.
    configured = ["-c", str(suite.ROOT / "pyproject.toml")]

    assert suite.run([str(tmp_path / "shop"), *configured, f"--junit-xml={ran}"], environ) == 0

    (found,) = ET.parse(ran).getroot()  # noqa: S314 - written a line above
    assert (found.get("tests"), found.get("skipped")) == ("2", "0")
    assert {case.get("classname", "").split(".")[-1] for case in found} == {"OrderTests"}


def test_only_the_browser_process_may_use_the_database_beside_a_running_loop() -> None:
    tests, browser = suite.plan([], cores=1)

    assert tests.environment == {}
    assert browser.environment == {"DJANGO_ALLOW_ASYNC_UNSAFE": "1"}


@pytest.mark.parametrize(
    ("codes", "result"),
    [([0, 0], 0), ([0, 1], 1), ([2, 1], 2), ([0, 5], 0), ([5, 5], 5), ([0, -9], 137), ([5], 5), ([], 5)],
)
def test_the_worst_code_counts(codes: list[int], result: int) -> None:
    assert suite.verdict(codes) == result


def test_without_chromium_the_rest_runs_and_one_line_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    ran: list[list[str]] = []

    def call(words: list[str], environ: dict[str, str]) -> int:
        ran.append(words)
        return 0

    code = suite.run([], {}, chromium=ABSENT, call=call)

    assert code == 0
    assert [words[0] for words in ran] == ["tests"]
    assert "SKIPPED: all browser tests, since there is no Chromium at" in capsys.readouterr().out


def test_without_chromium_a_required_browser_fails(capsys: pytest.CaptureFixture[str]) -> None:
    code = suite.run([], {"BEACH_REQUIRE": "redis, browser"}, chromium=ABSENT, call=lambda *_: 0)

    assert code == 1
    assert "FAILED: the browser tests are required" in capsys.readouterr().out


@pytest.fixture
def failing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, list[list[str]]]]:
    """Runs a real suite whose tests fail until they have been run so often; returns what every process was given."""
    monkeypatch.setattr(suite, "CACHES", tmp_path / "caches")
    tests = tmp_path / "test_made_for_this.py"
    ini = tmp_path / "pytest.ini"
    ini.write_text("[pytest]\n")

    def run(*, until: list[int], allowed: str) -> tuple[int, list[list[str]]]:
        made = (
            "import pathlib\n"
            "def _counts(name, until):\n"
            "    seen = pathlib.Path(__file__).with_name(name)\n"
            "    seen.write_text((seen.read_text() if seen.exists() else '') + 'x')\n"
            "    assert len(seen.read_text()) >= until\n"
        )
        for number, times in enumerate(until):
            made += f"def test_{number}():\n    _counts('seen{number}', {times})\n"
        tests.write_text(made)
        ran: list[list[str]] = []

        def call(words: list[str], environ: dict[str, str]) -> int:
            ran.append(words)
            options = re.sub(r"-n \d+|--dist \w+", "", " ".join(words[2:])).split()
            command = [
                sys.executable,
                "-m",
                "pytest",
                "-c",
                str(ini),
                "-p",
                "no:randomly",
                str(tests),
                *options,
            ]
            alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
            return subprocess.run(
                command, check=False, cwd=tmp_path, env=alone, stdout=subprocess.DEVNULL
            ).returncode

        return suite.run([], {"BEACH_AGAIN": allowed}, chromium=ABSENT, call=call), ran

    return run


@pytest.mark.parametrize(
    ("until", "allowed", "code", "runs"),
    [
        ([1, 1], "2", 0, 1),
        ([1, 2], "2", 0, 2),
        ([2, 3], "2", 1, 2),
        ([2, 2, 2], "2", 1, 1),
        ([2], "0", 1, 1),
    ],
)
def test_a_few_that_failed_are_tried_once_more_alone_where_that_is_allowed(
    failing: Any, until: list[int], allowed: str, code: int, runs: int, capsys: pytest.CaptureFixture[str]
) -> None:
    got, ran = failing(until=until, allowed=allowed)

    assert (got, len(ran)) == (code, runs)
    told = [line for line in capsys.readouterr().out.splitlines() if "FAILED" in line]
    once_more = sorted(times for times in until if times > 1) if runs == 2 else []
    assert len(told) == len(once_more)
    assert sum("TWICE" in line for line in told) == sum(times > 2 for times in once_more)
    assert sum("ONCE" in line for line in told) == sum(times == 2 for times in once_more)


@pytest.mark.parametrize(
    "reason",
    [shared.ABSENT, "Skipped: got empty parameter set for (given)", "Skipped: shared: there is none"],
)
def test_what_the_shared_data_lacks_is_told_once(reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "SHARED", None)
    where = ("tests/x.py", 7, reason)
    report = pytest.TestReport("x", where, {"skip": 1}, "skipped", where, "setup")
    other = pytest.TestReport("y", where, {}, "skipped", ("tests/y.py", 7, "Skipped: no redis"), "setup")

    shared.fold_skip(report)
    shared.fold_skip(other)

    assert report.longrepr == (str(suite.ROOT / "tests" / "shared.py"), 1, f"Skipped: {shared.ABSENT}")
    assert other.longrepr == ("tests/y.py", 7, "Skipped: no redis")
