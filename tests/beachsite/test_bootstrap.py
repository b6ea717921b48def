"""The environment is made once, mended when it must be, and never by two at a time."""

from __future__ import annotations

import ast
import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from beachsite import bootstrap
from beachsite.bootstrap import Environment, Project, groups_for

PYPROJECT = """
[project]
dependencies = ["one>=1"]
[project.optional-dependencies]
test = ["two>=2"]
dev = ["three>=3"]
[tool.ruff]
line-length = 110
"""


class Recorded(Environment):
    """Does everything but call pip."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.installed: list[list[str]] = []
        self.created = 0

    def _create(self) -> None:
        self.created += 1
        self.python.parent.mkdir(parents=True)
        # A link to this test's own interpreter: it runs, has pip, and is of the right version.
        self.python.symlink_to(sys.executable)

    def _install(self, requirements: list[str], constraints: Path) -> None:
        self.installed.append(requirements)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    (tmp_path / "constraints.txt").write_text("one==1.1\n")
    return tmp_path


def test_first_start_installs_and_the_second_does_nothing(root: Path) -> None:
    environment = Recorded(root)

    environment.prepare(set())
    environment.prepare(set())

    assert environment.installed == [["one>=1"]]
    assert environment.created == 1


def test_a_group_is_added_when_it_is_first_needed_and_kept_from_then_on(root: Path) -> None:
    environment = Recorded(root)

    environment.prepare(set())
    environment.prepare({"test"})
    environment.prepare(set())
    (root / "constraints.txt").write_text("one==1.2\n")
    environment.prepare(set())

    assert environment.installed == [["one>=1"], ["one>=1", "two>=2"], ["one>=1", "two>=2"]]
    assert environment.created == 1


def test_it_says_what_it_makes_and_what_it_only_adds(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A second installation is not the first one again, and none is promised to be quick."""
    environment = Recorded(root)
    environment.prepare(set())
    environment.prepare({"test"})
    (root / "constraints.txt").write_text("one==1.2\n")
    environment.prepare(set())

    made, added, anew = capsys.readouterr().err.splitlines()
    assert made.startswith(
        "Preparing .venv with its packages (once; half a minute, on a busy machine minutes) ... done"
    )
    assert added.startswith("Adding the packages for test to .venv (once;")
    assert anew.startswith("Preparing .venv with its packages")


@pytest.mark.parametrize(
    ("file", "old", "new", "again"),
    [
        ("constraints.txt", "1.1", "1.2", True),
        ("pyproject.toml", "one>=1", "one>=1.1", True),
        ("pyproject.toml", "two>=2", "two>=2.1", True),
        ("pyproject.toml", "line-length = 110", "line-length = 100", False),
    ],
)
def test_only_what_bears_on_packages_makes_a_stamp_stale(
    root: Path, file: str, old: str, new: str, again: bool
) -> None:
    environment = Recorded(root)
    environment.prepare(set())

    path = root / file
    path.write_text(path.read_text().replace(old, new))
    environment.prepare(set())

    assert len(environment.installed) == (2 if again else 1)


def test_another_python_version_makes_a_stamp_stale(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = Project(root / "pyproject.toml", root / "constraints.txt").digest

    monkeypatch.setattr(bootstrap, "python_version", lambda: "3.99")

    assert Project(root / "pyproject.toml", root / "constraints.txt").digest != before


@pytest.mark.parametrize("content", ["", "\n", "nonsense", "no such groups", "\x00"])
def test_a_broken_stamp_counts_as_none(root: Path, content: str) -> None:
    environment = Recorded(root)
    environment.prepare(set())

    environment.stamp.write_text(content)
    environment.prepare(set())

    assert environment.installed == [["one>=1"], ["one>=1"]]


def test_a_cut_installation_leaves_no_stamp(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = Recorded(root)
    environment.prepare(set())

    def cut(requirements: list[str], constraints: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(environment, "_install", cut)
    with pytest.raises(KeyboardInterrupt):
        environment.prepare({"test"})

    assert not environment.stamp.exists()


def test_an_environment_whose_python_is_gone_is_made_anew(root: Path) -> None:
    environment = Recorded(root)
    environment.prepare(set())
    environment.python.unlink()
    environment.python.parent.rmdir()

    environment.prepare(set())

    assert environment.created == 2


def test_pip_is_held_to_the_constraints_and_its_last_words_are_shown(root: Path) -> None:
    environment = Environment(root)
    environment.python.parent.mkdir(parents=True)
    environment.python.write_text('#!/bin/sh\necho "asked for: $*"\nexit 1\n')
    environment.python.chmod(0o755)

    with pytest.raises(SystemExit) as refusal:
        environment._install(["one>=1"], root / "constraints.txt")

    assert f"--constraint {root / 'constraints.txt'} one>=1" in str(refusal.value)
    assert "pip could not install" in str(refusal.value)


def test_no_network_is_called_by_its_name(root: Path) -> None:
    environment = Environment(root)
    environment.python.parent.mkdir(parents=True)
    environment.python.write_text('#!/bin/sh\necho "Temporary failure in name resolution"\nexit 1\n')
    environment.python.chmod(0o755)

    with pytest.raises(SystemExit, match="is this machine online"):
        environment._install(["one>=1"], root / "constraints.txt")


def test_a_second_start_waits_for_the_first_and_finds_it_done(root: Path) -> None:
    """The second start is a process, as it is in life: locks of one process do not exclude each other."""
    script = (
        "import sys; from pathlib import Path; from beachsite.bootstrap import Environment\n"
        "class Second(Environment):\n"
        "    def _build(self, *_): print('built', flush=True)\n"
        "Second(Path(sys.argv[1])).prepare(set()); print('ready', flush=True)\n"
    )
    first = Recorded(root)
    (root / "var").mkdir()
    with (root / "var" / "bootstrap.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        command = [sys.executable, "-c", script, str(root)]
        second = subprocess.Popen(
            command, cwd=bootstrap.ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert second.stderr is not None
        assert "waiting" in second.stderr.readline()
        first._build(Project(root / "pyproject.toml", root / "constraints.txt"), set())
    out, err = second.communicate(timeout=20)

    assert (out.split(), err) == (["ready"], "")


@pytest.mark.parametrize("version", [(3, 6, 9), (3, 10, 14)])
def test_too_old_a_python_is_told_which_one_is_needed(version: tuple[int, int, int]) -> None:
    with pytest.raises(SystemExit, match=r"needs Python 3\.11 or newer; this is 3\.\d+"):
        bootstrap.refuse_old(version)


@pytest.mark.parametrize("version", [(3, 11, 0), (3, 14, 2), (4, 0, 0)])
def test_the_least_python_and_newer_ones_pass(version: tuple[int, int, int]) -> None:
    bootstrap.refuse_old(version)


@pytest.mark.parametrize("file", ["manage.py", "beachsite/__init__.py", "beachsite/bootstrap.py"])
def test_an_old_python_can_read_what_refuses_it(file: str) -> None:
    ast.parse((bootstrap.ROOT / file).read_text(), feature_version=(3, 7))


def test_the_suite_needs_the_test_group_and_the_environment_may_add_more() -> None:
    assert groups_for(["manage.py", "demo"], "") == {"demo"}
    assert groups_for(["manage.py", "test", "-x"], "") == {"demo", "test"}
    assert groups_for(["manage.py", "check"], "dev, test") == {"demo", "dev", "test"}


def test_an_unknown_group_is_refused_with_the_known_ones(root: Path) -> None:
    with pytest.raises(SystemExit, match="names nonsense; the groups are: dev, test"):
        Recorded(root).prepare({"nonsense"})


def test_nothing_happens_where_the_environment_is_someone_elses_business(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def never(*args: object) -> None:
        raise AssertionError("it looked")

    monkeypatch.setenv("BEACH_NO_BOOTSTRAP", "1")
    monkeypatch.setattr(bootstrap, "Environment", never)

    bootstrap.ensure(["manage.py", "demo"])


def test_a_later_start_costs_less_than_a_fifth_of_a_second(root: Path) -> None:
    environment = Recorded(root)
    environment.prepare(set())

    started = time.perf_counter()
    Recorded(root).prepare(set())

    assert time.perf_counter() - started < 0.2


def test_the_command_moves_into_the_environment_and_keeps_its_arguments(root: Path) -> None:
    """With a stand-in for the environment's Python that says how it was called."""
    (root / "beachsite").mkdir()
    for name in ("manage.py", "beachsite/__init__.py", "beachsite/bootstrap.py"):
        (root / name).write_text((bootstrap.ROOT / name).read_text())
    environment = Environment(root)
    environment.python.parent.mkdir(parents=True)
    environment.python.write_text('#!/bin/sh\necho "moved: $*"\n')
    environment.python.chmod(0o755)
    digest = Project(root / "pyproject.toml", root / "constraints.txt").digest
    environment.stamp.write_text(f"{digest}\ndemo")

    answer = subprocess.run(
        [sys.executable, "-X", "utf8", "manage.py", "demo", "--port", "8001"],
        cwd=root,
        env={name: value for name, value in os.environ.items() if name != "BEACH_NO_BOOTSTRAP"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert answer.stdout == "moved: -X utf8 manage.py demo --port 8001\n"


def test_constraints_pin_every_package_that_is_asked_for_and_nothing_else_is_in_them() -> None:
    lines = (bootstrap.ROOT / "constraints.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines)
    project = Project(bootstrap.ROOT / "pyproject.toml", bootstrap.ROOT / "constraints.txt")

    for requirement in project.requirements(project.groups):
        name = requirement.split(">")[0].split("[")[0]
        assert name.lower().replace("_", "-") in {pin.lower().replace("_", "-") for pin in pins}, requirement
    assert all(version and not set(version) & set(" @;/:") for version in pins.values())
