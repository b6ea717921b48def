"""Beach in a project of somebody else: the wheel, `startproject`, the lines of docs/library.md, and a browser."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from beachsite.suite import ROOT
from tests.browser.conftest import Desk
from tests.browser.test_main_job import say, settled
from tests.liveserver import _FOREIGN, PASSWORD, free_port
from tests.once import made_once
from tests.wheel import build

GUIDE = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(?:python|sh)\n(.*?)```", GUIDE, re.DOTALL)
SETTINGS, URLS, ASGI, GALLERY, DESK = (
    next(block for block in BLOCKS if block.startswith(first) and word in block)
    for first, word in (
        ("# mysite/settings.py", "ASGI_APPLICATION"),
        ("# mysite/urls.py\n", "envelopes.urls"),
        ("# mysite/asgi.py", "import"),
        ("# mysite/urls.py, at the end", "gallery"),
        ("# mysite/settings.py", "DeskConfig"),
    )
)
SHOP = next(block for block in BLOCKS if '"shop"' in block)

HELPDESK = 'INSTALLED_APPS += ["helpdesk"]\nBEACH_STYLES = ["helpdesk/helpdesk.css"]\n'
UNWRITTEN = shutil.ignore_patterns("__pycache__")

PREPARE = """
import json, a2ui, envelopes, django
from django.core.management import call_command
django.setup()
call_command("check", fail_level="WARNING")
call_command("makemigrations", "helpdesk", check=True, dry_run=True, verbosity=0)
call_command("test", "shop", "helpdesk")
call_command("migrate", verbosity=0)
from django.contrib.auth.models import User
User.objects.create_superuser("grace", password={password!r})
import a2ui.core
print(json.dumps([a2ui.__file__, envelopes.__file__, a2ui.core.__name__]))
"""


class Project:
    """A folder with a Django project, and an environment in which Beach is installed."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.folder = folder / "site"
        self.folder.mkdir()
        self.port = free_port()
        venv.create(folder / "env", symlinks=True)
        self.python = folder / "env" / "bin" / "python"
        (self.packages,) = (folder / "env" / "lib").glob("python*/site-packages")
        # What Beach needs is what runs this test; nothing of the checkout is there.
        (self.packages / "others.pth").write_text(sysconfig.get_path("purelib"))
        pip = [sys.executable, "-m", "pip", "--python", str(self.python), "install", "--quiet", "--no-index"]
        self._run([*pip, "--disable-pip-version-check", "--no-deps", "--no-compile", str(wheel)])
        self.run("-m", "django", "startproject", "mysite", ".", module="")

    def file(self, name: str) -> Path:
        return self.folder / "mysite" / name

    def add(self, name: str, block: str) -> None:
        """Puts a piece of the guide at the end of a file of the project."""
        file = self.file(name)
        file.write_text(f"{file.read_text()}\n{block}")

    def run(self, *arguments: str, module: str = "mysite.settings", fails: bool = False) -> str:
        return self._run([str(self.python), *arguments], module, fails=fails)

    def environ(self, module: str = "mysite.settings") -> dict[str, str]:
        known = {
            name: value for name, value in os.environ.items() if not name.startswith((*_FOREIGN, "PYTHON"))
        }
        return {**known, "PYTHONUNBUFFERED": "1", **({"DJANGO_SETTINGS_MODULE": module} if module else {})}

    def _run(self, command: list[str], module: str = "", *, fails: bool = False) -> str:
        done = subprocess.run(
            command, cwd=self.folder, env=self.environ(module), capture_output=True, text=True, check=False
        )
        told = f"{done.stdout}\n{done.stderr}"
        assert bool(done.returncode) is fails, told
        return told


@pytest.fixture
def project(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    # pip reads what a wheel is for from its name.
    return Project(tmp_path, made_once(tmp_path_factory, "beach_on_django-0.1.0-py3-none-any.whl", build))


def test_a_new_project_gets_a_chat_from_the_wheel_below_a_prefix(
    project: Project, desk: Desk, page: Any
) -> None:
    plain = project.file("settings.py").read_text()
    project.add("settings.py", 'INSTALLED_APPS += ["envelopes"]\nBEACH_MAX_STEP = 3\n')
    missing = project.run("manage.py", "check", fails=True)
    for line in (
        "Add 'a2ui' to INSTALLED_APPS",
        "Add 'django_htmx' to INSTALLED_APPS",
        'Add path("beach/", include("envelopes.urls")) to the urlpatterns of mysite.urls',
        'Add to STORAGES: "artifacts"',
        "from envelopes.asgi import get_asgi_application",
        "Put 'daphne' first in INSTALLED_APPS, and set ASGI_APPLICATION = 'mysite.asgi.application'",
        "transaction_mode",
        "`manage.py beach new-agent shop` writes one",
        "BEACH_MAX_STEP is no setting of Beach, so nothing reads it.\n\tHINT: Did you mean BEACH_MAX_STEPS?",
    ):
        assert line in missing, missing

    project.file("settings.py").write_text(f"{plain}\n{SETTINGS}")
    project.file("urls.py").write_text(f"{URLS}\n{GALLERY}")
    asgi = project.file("asgi.py")
    told = "from django.core.asgi import get_asgi_application\n"
    assert told in asgi.read_text()
    asgi.write_text(asgi.read_text().replace(told, ASGI.split("\n", 1)[1]))
    written = project.run("manage.py", "beach", "new-agent", "shop")
    assert "Add 'shop' to INSTALLED_APPS" in written and "W004" not in written
    shutil.copytree(ROOT / "docs" / "example" / "helpdesk", project.folder / "helpdesk", ignore=UNWRITTEN)
    project.add("settings.py", f"{SHOP}\n{DESK}\n{HELPDESK}")
    prepared = project.run("-c", PREPARE.format(password=PASSWORD))
    assert re.search(r"Ran [1-9]\d tests in .*\n\nOK", prepared), prepared
    ours, theirs, core = json.loads(next(line for line in prepared.splitlines() if line.startswith('["')))
    assert Path(ours).is_relative_to(project.packages) and Path(theirs).is_relative_to(project.packages)
    assert core == "a2ui.core"

    log = project.folder / "server.log"
    with log.open("wb") as out:
        command = [str(project.python), "manage.py", "runserver", "--noreload", str(project.port)]
        server = subprocess.Popen(command, cwd=project.folder, env=project.environ(), stdout=out, stderr=out)
    try:
        _talks(project, desk, page)
    finally:
        server.terminate()
        server.wait(20)
    assert "Traceback" not in log.read_text(), log.read_text()


def _talks(project: Project, desk: Desk, page: Any) -> None:
    site = f"http://127.0.0.1:{project.port}"
    _answers(page, f"{site}/beach/")
    # Nobody has signed in, and the project has no page for that.
    expect(page).to_have_url(re.compile(r"/beach/sign-in\?next=/beach/"))
    page.get_by_label("Username").fill("grace")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(f"{site}/beach/")
    say(page, "Order two lamps")
    approve = page.get_by_role("button", name="Approve")
    expect(page.locator("#thread")).to_contain_text("Order lamp (2)?")
    approve.click()
    settled(page)
    expect(page.locator("#thread")).to_contain_text("It is on its way.")
    expect(page).to_have_url(re.compile(r"/beach/chat/\w+"))
    page.reload()
    expect(page.locator("#status")).to_have_attribute("data-state", "connected")
    expect(page.locator("#thread")).to_contain_text("Ordered lamp (2)")

    page.goto(f"{site}/gallery/?sample=01-product-card")
    expect(page.locator("#thread .a2-btn").first).to_be_visible()
    assert page.evaluate("getComputedStyle(document.querySelector('#thread .a2-btn')).borderRadius") != "0px"
    page.goto(f"{site}/admin/")
    expect(page.get_by_role("link", name="Conversations", exact=True)).to_be_visible()
    assert page.request.get(f"{site}/beach/.well-known/agent-card.json").json()["supportedInterfaces"][0][
        "url"
    ] in (
        f"{site}/beach/api/",
        f"ws://127.0.0.1:{project.port}/beach/ws/live/",
    )


def _answers(page: Any, address: str) -> None:
    # As long as other servers of tests may take.
    for _ in range(1200):
        try:
            page.goto(address)
        except Exception as error:
            if "ERR_CONNECTION_REFUSED" not in str(error):
                raise
            page.wait_for_timeout(100)
        else:
            return
    raise AssertionError("The server did not come up.")
