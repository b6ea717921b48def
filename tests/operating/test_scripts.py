"""The rest of docs/operating.md: scripts of a deployment in their order, accounts, and that no piece is left unrun."""

from __future__ import annotations

import os
import re
import subprocess
from importlib import import_module
from pathlib import Path

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, User

from envelopes.access import principal
from tests.operating.guide import _BLOCK, OPERATING, piece, pieces

RUN = {
    "test_settings.py": {
        "mysite/production.py",
        "mysite/urls.py",
        "mysite/sign_on.py",
        "mysite/proxied.py",
        "/etc/systemd/system/mysite-web@.service",
        "/etc/systemd/system/mysite-worker@.service",
        "/etc/systemd/system/mysite.target",
        "prometheus.yml",
        "mysite-rules.yml",
    },
    "test_scripts.py": {"/etc/mysite/env", "deploy.sh"},
    "../faults/test_rolling.py": {"/etc/nginx/conf.d/mysite.conf"},
    "../faults/test_backup.py": {
        "backup.sh",
        "backup-sqlite.sh",
        "restore.sh",
        "restore-sqlite.sh",
        "daily.sh",
    },
}


def test_every_piece_is_run_by_a_test() -> None:
    named = {name for name, _, _ in _BLOCK.findall(OPERATING)}

    assert named == set().union(*RUN.values())
    # One has no file: the accounts, below.
    assert len(re.findall(r"^```\w", OPERATING, re.MULTILINE)) == len(_BLOCK.findall(OPERATING)) + 1
    for test, names in RUN.items():
        text = (Path(__file__).parent / test).read_text(encoding="utf-8")
        for name in names:
            assert name.rsplit("/", 1)[-1].split(".")[0].split("-sqlite")[0] in text, (test, name)


def test_the_environment_has_what_the_settings_want() -> None:
    given = dict(line.split("=", 1) for line in piece("/etc/mysite/env").splitlines())
    (settings, *_) = pieces("mysite/production.py")

    assert given["DJANGO_SETTINGS_MODULE"] == "mysite.production"
    assert set(re.findall(r'os\.environ\["(\w+)"\]', settings)) <= given.keys()
    assert set(given) <= {"DJANGO_SETTINGS_MODULE", *re.findall(r'os\.environ[.\w]*[\[(]"(\w+)"', settings)}


def test_a_deployment_migrates_first_and_lets_one_process_answer_before_the_next_goes(tmp_path: Path) -> None:
    log = tmp_path / "log"
    for name in ("env/bin/python", "bin/systemctl", "bin/curl"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        # A process answers when it is asked for the second time.
        again = 'test "$(tail -n 2 "$LOG" | grep -c curl)" = 2' if name.endswith("curl") else "true"
        file.write_text(f'#!/bin/sh\necho "{file.name} $@" >> "$LOG"\n{again}\n')
        file.chmod(0o755)
    script = piece("deploy.sh").replace("cd /srv/mysite", f"cd {tmp_path}")

    environ = {"LOG": str(log), "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    subprocess.run(["bash", "-c", script], env=environ, check=True)

    done = [re.sub(r"curl .*:(\d+)/", r"curl \1 ", line) for line in log.read_text().splitlines()]
    assert [line.split()[2] for line in done if line.startswith("python manage")] == [
        "check",
        "collectstatic",
        "migrate",
    ]
    assert done[done.index("python manage.py migrate") + 1 :] == [
        "systemctl restart mysite-worker@9464",
        "systemctl restart mysite-web@8001",
        "curl 8001 readyz",
        "curl 8001 readyz",
        "systemctl restart mysite-web@8002",
        "curl 8002 readyz",
        "curl 8002 readyz",
    ]


@pytest.mark.django_db
def test_an_approver_may_decide_and_not_write() -> None:
    import_module("envelopes.migrations.0028_roles").make_roles(apps, None)
    (code,) = re.findall(r"```python\n(from django.contrib.auth.*?)```", OPERATING, re.DOTALL)
    exec(code, {})  # noqa: S102

    grace = principal(User.objects.get(username="grace"), None)
    assert Group.objects.filter(name__startswith="Beach").count() == 3
    assert grace.may_decide_all() and grace.may_view_all() and not grace.may_operate()
