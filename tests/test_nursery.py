"""What tests start is what a person starts: its words, environment, output, signals and end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from tests import nursery

TELLS = """
import json, os, signal, sys
import django.conf
told = {"words": sys.argv[1:], "environ": dict(os.environ), "cwd": os.getcwd(), "stdin": sys.stdin.read(),
        "main": __name__, "interrupt": signal.getsignal(signal.SIGINT) is signal.default_int_handler,
        "leads": os.getsid(0) == os.getpgid(0) == os.getpid()}
print(json.dumps(told))
print("to the errors", file=sys.stderr)
raise SystemExit(3)
"""


def environ(**more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "BEACH_NO_BOOTSTRAP": "1", **more}


def test_a_process_has_its_words_its_environment_its_output_and_its_exit_code(tmp_path: Path) -> None:
    given = environ(BEACH_DATA=str(tmp_path), FLAVOUR="salt")
    done = nursery.run(["shell", "-v", "0", "-c", TELLS], given)

    assert (done.returncode, done.stderr) == (3, "to the errors\n")
    told = json.loads(done.stdout)
    assert told["words"] == ["shell", "-v", "0", "-c", TELLS]
    django_sets = {"DJANGO_SETTINGS_MODULE": "beachsite.settings.local", "TZ": "UTC"}
    assert told["environ"] == {**given, **django_sets}
    assert told["cwd"] == str(nursery.ROOT) and told["stdin"] == ""
    assert told["interrupt"] and told["leads"]


def test_settings_are_those_of_its_own_environment(tmp_path: Path) -> None:
    asks = ["shell", "-v", "0", "-c", "from django.conf import settings; print(settings.BEACH_DATA)"]
    for name in "ab":
        done = nursery.run(asks, environ(BEACH_DATA=str(tmp_path / name)))
        assert done.stdout.strip() == str(tmp_path / name), done.stderr


def test_it_can_be_waited_for_and_killed(tmp_path: Path) -> None:
    with tempfile.TemporaryFile() as out:
        code = "import time; time.sleep(60)"
        process = nursery.start(["shell", "-v", "0", "-c", code], environ(BEACH_DATA=str(tmp_path)), out)
    assert process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.01)
    process.kill()
    assert process.wait(30) == process.poll() == -signal.SIGKILL
    process.kill()


def test_it_goes_on_where_nobody_waits_for_it(tmp_path: Path) -> None:
    own = nursery._Nursery()
    asked = {"module": "", "words": ["shell", "-v", "0", "-c", "print('done')"], "environ": environ()}
    asked["environ"] |= {"BEACH_DATA": str(tmp_path)}
    with (tmp_path / "out").open("wb") as out:
        process = own.start(json.dumps(asked).encode(), out, out)
    own.close()
    process._told.close()
    deadline = time.monotonic() + 60
    while "done" not in (tmp_path / "out").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.01)
