"""The environment decides, and what it cannot mean is refused with the name of the variable."""

from __future__ import annotations

import ast
import json
import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from beachsite.settings import env
from beachsite.settings.database import database
from beachsite.settings.secret import stored_key
from beachsite.suite import ROOT

GIVEN = {"SECRET_KEY": "k" * 60, "ALLOWED_HOSTS": "chat.example.com"}


def load(module: str, tmp_path: Path, **environ: str) -> dict[str, Any]:
    """The settings as a fresh process sees them: a settings module is read once in a process, and so is its env."""
    script = (
        f"import json, beachsite.settings.{module} as s\n"
        "print(json.dumps({n: getattr(s, n) for n in dir(s) if n.isupper()}, default=str))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "BEACH_DATA": str(tmp_path / "data"), **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode:
        raise ImproperlyConfigured(answer.stderr.strip().splitlines()[-1])
    settings: dict[str, Any] = json.loads(answer.stdout)
    return settings


def test_local_needs_nothing(tmp_path: Path) -> None:
    settings = load("local", tmp_path)

    assert settings["DATABASES"]["default"]["ENGINE"] == "django.db.backends.sqlite3"
    assert settings["DATABASES"]["default"]["NAME"] == str(tmp_path / "data" / "beach.sqlite3")
    assert "InMemory" in settings["CHANNEL_LAYERS"]["default"]["BACKEND"]
    assert settings["BEACH_EXECUTOR"] == "inprocess"
    assert settings["BEACH_ANONYMOUS"] is True
    assert settings["DEBUG"] is False
    assert settings["ALLOWED_HOSTS"] == ["localhost", "127.0.0.1", "[::1]"]


def test_the_local_key_is_kept_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    first = load("local", tmp_path)["SECRET_KEY"]
    second = load("local", tmp_path)["SECRET_KEY"]

    path = tmp_path / "data" / "secret-key"
    assert first == second == path.read_text()
    assert len(first) >= 60
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["secret-key"]


def test_two_first_starts_agree_on_one_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(stored_key, [tmp_path / "data" / "secret-key"] * 8))

    assert len(keys) == 1


def test_an_empty_key_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret-key").write_text("\n")

    with pytest.raises(ImproperlyConfigured, match=r"is empty\. Delete it"):
        stored_key(tmp_path / "secret-key")


def test_each_switch_works_on_its_own(tmp_path: Path) -> None:
    settings = load(
        "local",
        tmp_path,
        DATABASE_URL="postgres://beach:secret@db.example.com:5433/beach",
        REDIS_URL="redis://cache.example.com:6379/1",
        BEACH_EXECUTOR="worker",
        BEACH_MODEL="some-model",
        BEACH_ANONYMOUS="0",
        BEACH_IMAGE_HOSTS="a.example.com, b.example.com",
        BEACH_ALLOWED_ORIGINS="https://a.example.com",
        ALLOWED_HOSTS="a.example.com",
        TIME_ZONE="Europe/Athens",
        BEACH_DEBUG="1",
    )

    database = settings["DATABASES"]["default"]
    assert (database["ENGINE"], database["HOST"], database["PORT"]) == (
        "django.db.backends.postgresql",
        "db.example.com",
        5433,
    )
    (host,) = settings["CHANNEL_LAYERS"]["default"]["CONFIG"]["hosts"]
    assert host["address"] == "redis://cache.example.com:6379/1"
    # Channels asks Redis to wait five seconds for a message.
    assert host["socket_timeout"] > 5
    assert settings["BEACH_EXECUTOR"] == "worker"
    assert settings["BEACH_MODEL"] == "some-model"
    assert settings["BEACH_ANONYMOUS"] is False
    assert settings["BEACH_ALLOWED_ORIGINS"] == ["https://a.example.com"]
    assert settings["ALLOWED_HOSTS"] == ["a.example.com"]
    assert settings["TIME_ZONE"] == "Europe/Athens"
    assert settings["DEBUG"] is True
    images = settings["CONTENT_SECURITY_POLICY"]["DIRECTIVES"]["img-src"]
    assert images == ["'self'", "https://a.example.com", "https://b.example.com", "data:"]


def test_sqlite_by_url_gets_the_same_care(tmp_path: Path) -> None:
    config = database(f"sqlite:///{tmp_path}/x.sqlite3", tmp_path)

    assert config["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert config["OPTIONS"]["timeout"] == 20
    assert "journal_mode=WAL" in config["OPTIONS"]["init_command"]


def test_tests_of_an_application_get_a_file_beside_the_database(tmp_path: Path) -> None:
    """In memory, as Django would have it, agents and tests find each other's tables locked."""
    settings = load("local", tmp_path)

    name = settings["DATABASES"]["default"]["TEST"]["NAME"]
    assert Path(name).parent == tmp_path / "data" and Path(name).name.startswith("beach.sqlite3.test-")
    assert "TEST" not in database("sqlite://:memory:", tmp_path)
    assert "TEST" not in database("postgresql://h/x", tmp_path)


def test_a_database_server_that_vanishes_is_noticed_within_half_a_minute(tmp_path: Path) -> None:
    options = database("postgresql://h/x?tcp_user_timeout=5000", tmp_path)["OPTIONS"]

    assert options["keepalives_idle"] + options["keepalives_interval"] * options["keepalives_count"] <= 35
    assert int(options["tcp_user_timeout"]) == 5000, "what the URL says counts"
    assert database("postgresql://h/x", tmp_path)["OPTIONS"]["tcp_user_timeout"] == 30_000


@pytest.mark.parametrize("missing", sorted(GIVEN))
def test_production_says_what_it_lacks(missing: str, tmp_path: Path) -> None:
    given = {name: value for name, value in GIVEN.items() if name != missing}

    with pytest.raises(ImproperlyConfigured, match=f"Set the environment variable {missing}"):
        load("production", tmp_path, **given)


def test_production_is_closed_and_makes_no_key_of_its_own(tmp_path: Path) -> None:
    settings = load("production", tmp_path, **GIVEN)

    assert settings["BEACH_ANONYMOUS"] is False
    assert settings["DEBUG"] is False
    assert settings["SECRET_KEY"] == GIVEN["SECRET_KEY"]
    assert not (tmp_path / "data" / "secret-key").exists()


def test_the_test_settings_ignore_what_a_machine_runs_with(tmp_path: Path) -> None:
    settings = load(
        "test",
        tmp_path,
        DATABASE_URL="postgres://real/data",
        REDIS_URL="redis://real",
        ANTHROPIC_API_KEY="real",
    )

    assert "real" not in json.dumps([settings["DATABASES"], settings["CHANNEL_LAYERS"]])
    assert settings["ANTHROPIC_API_KEY"] == ""


@pytest.mark.parametrize(
    ("read", "value", "sentence"),
    [
        (lambda: env.flag("X", default=False), "maybe", "X is 'maybe'; write 1 or 0"),
        (lambda: env.number("X", 1), "two", "X is 'two'; write a whole number"),
        (lambda: env.number("X", 1, least=1), "0", "the least that works is 1"),
        (lambda: env.seconds("X", 1), "soon", "write a number of seconds"),
        (lambda: env.seconds("X", 1), "-1", "more than no time"),
        (lambda: env.seconds("X", 1), "nan", "more than no time"),
        (lambda: env.choice("X", ("a", "b"), "a"), "c", "write one of: a, b"),
        (lambda: env.time_zone("X", "UTC"), "Mars/Base", "X is 'Mars/Base'; write a name such as"),
        (lambda: env.time_zone("X", "UTC"), "../UTC", "write a name such as"),
        (lambda: env.log_level("X", "INFO"), "LOUD", "write one of: DEBUG, INFO"),
        (
            lambda: database(env.text("X"), Path(), name="X"),
            "mysql://me:secret@x/y",
            "^X cannot be used; write",
        ),
        (lambda: database(env.text("X"), Path(), name="X"), "nonsense", "^X cannot be used; write"),
        (lambda: database(env.text("X"), Path(), name="X"), "postgresql://h:port/x", "^X cannot be used"),
    ],
)
def test_nonsense_is_refused(read: Any, value: str, sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X", value)

    with pytest.raises(ImproperlyConfigured, match=sentence):
        read()


@pytest.mark.parametrize("value", ["", "  "])
def test_empty_counts_as_unset(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X", value)

    assert env.text("X", "default") == "default"
    assert env.flag("X", default=True) is True
    assert env.number("X", 3) == 3
    assert env.words("X", ("a",)) == ["a"]
    assert env.log_level("X", "INFO") == "INFO"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BEACH_LEASE_SECONDS", "abc"),
        ("DATABASE_URL", "mysql://x"),
        ("TIME_ZONE", "Mars/Base"),
        ("BEACH_LOG_LEVEL", "LOUD"),
    ],
)
def test_the_command_line_says_one_sentence_and_no_traceback(name: str, value: str, tmp_path: Path) -> None:
    answer = subprocess.run(
        [sys.executable, "manage.py", "demo", "--check"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "BEACH_DATA": str(tmp_path), "BEACH_NO_BOOTSTRAP": "1", name: value},
        capture_output=True,
        text=True,
        check=False,
    )

    assert answer.returncode == 1
    (line,) = answer.stderr.strip().splitlines()
    assert line.startswith(name)
    assert "write" in line


def test_a_setting_that_may_be_missing_has_its_default_in_one_place() -> None:
    """A second reader with a default of its own would be a second default."""
    read = {
        file.relative_to(ROOT).as_posix()
        for package in ("a2ui", "beachsite", "envelopes")
        for file in (ROOT / package).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) == "getattr"
        and ast.unparse(node.args[0]) == "settings"
    }

    assert read == {"a2ui/gallery/conf.py", "envelopes/setting.py"}
