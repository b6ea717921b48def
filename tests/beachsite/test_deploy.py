"""The site under its production settings, in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from beachsite.suite import ROOT
from envelopes.client import bundling as client


def manage(*arguments: str, data: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "manage.py", *arguments],
        cwd=ROOT,
        env={
            "PATH": os.environ["PATH"],
            "BEACH_NO_BOOTSTRAP": "1",
            "BEACH_DATA": str(data),
            "BEACH_STATIC_ROOT": str(data / "static"),
            "DJANGO_SETTINGS_MODULE": "beachsite.settings.production",
            "SECRET_KEY": "0123456789abcdefghijklmnopqrstuvwxyz" * 2,
            "ALLOWED_HOSTS": "chat.example.com",
            **environ,
        },
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_deployment_check_finds_nothing(tmp_path: Path) -> None:
    answer = manage("check", "--deploy", "--fail-level", "WARNING", data=tmp_path)

    assert answer.returncode == 0, answer.stderr
    assert "no issues" in answer.stdout


def test_a_wrong_combination_stops_the_start(tmp_path: Path) -> None:
    answer = manage("check", data=tmp_path, BEACH_EXECUTOR="worker")

    assert answer.returncode == 1
    assert "envelopes.E030" in answer.stderr
    assert "Set REDIS_URL" in answer.stderr


def test_models_and_migrations_agree(tmp_path: Path) -> None:
    answer = manage("makemigrations", "--check", "--dry-run", data=tmp_path)

    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_static_files_get_hashed_names_and_the_code_of_the_page_is_small(tmp_path: Path) -> None:
    answer = manage("collectstatic", "--no-input", data=tmp_path)

    assert answer.returncode == 0, answer.stderr
    collected = tmp_path / "static"
    assert {path.name.split(".")[0] for path in collected.glob("beach/*.*.css")} >= {"chat", "desk", "door"}
    code, other = (list(collected.glob(f"beach/{name}.*.js")) for name in ("panel", "gallery"))
    assert (len(code), len(other)) == (1, 1)
    # What is asked for at once is one file; modules that come when they are needed are imported by a call.
    assert not [path for path in code + other if re.search(r"\bimport\b(?!\()", path.read_text())]
    assert [len(list(collected.glob(f"beach/{name}.*.js"))) for name in ("files", "widgets")] == [1, 1]
    if client.has_minifier():
        # What a browser downloads, as it is sent.
        assert code[0].with_name(f"{code[0].name}.gz").stat().st_size <= 10_000
