"""The pieces of docs/operating.md by the file that each is of, and a project with them in it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from beachsite.suite import ROOT
from tests.liveserver import _FOREIGN

OPERATING = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
LIBRARY = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
_BLOCK = re.compile(r"```\w+\n# ([^\n,]+?)(?:, ([^\n]*))?\n(.*?)```", re.DOTALL)


def pieces(name: str, text: str = OPERATING) -> list[str]:
    """All pieces of the file ``name``, in their order."""
    return [code for file, _, code in _BLOCK.findall(text) if file == name]


def piece(name: str) -> str:
    """The one piece of the file ``name``."""
    (found,) = pieces(name)
    return found


class Project:
    """A new Django project with the lines of docs/library.md and the agent of docs/example, and the checkout on its
    path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "site"
        self.folder.mkdir()
        self.data = folder / "data"
        self.run("-m", "django", "startproject", "mysite", ".", settings="")
        settings, urls, asgi = (
            pieces(f"mysite/{name}.py", LIBRARY)[0] for name in ("settings", "urls", "asgi")
        )
        finder = 'STATICFILES_FINDERS = [*global_settings.STATICFILES_FINDERS, "envelopes.client.finders.ClientFinder"]'
        self.add("settings.py", f"{settings}\nfrom django.conf import global_settings\n{finder}\n")
        self.file("urls.py").write_text(urls)
        file = self.file("asgi.py")
        plain = "from django.core.asgi import get_asgi_application\n"
        file.write_text(file.read_text().replace(plain, asgi))
        self.add("settings.py", 'INSTALLED_APPS += ["helpdesk"]\nBEACH_STYLES = ["helpdesk/helpdesk.css"]\n')

    def file(self, name: str) -> Path:
        return self.folder / "mysite" / name

    def add(self, name: str, code: str) -> None:
        """Puts a piece at the end of a file of the project, or begins it."""
        file = self.file(name)
        file.write_text(f"{file.read_text() if file.exists() else ''}\n{code}")

    def run(self, *words: str, settings: str = "mysite.settings", **more: str) -> str:
        known = {
            name: value for name, value in os.environ.items() if not name.startswith((*_FOREIGN, "PYTHON"))
        }
        environ = {
            **known,
            "PYTHONPATH": f"{ROOT}:{ROOT / 'docs' / 'example'}",
            "DATA": str(self.data),
            **more,
        }
        if settings:
            environ["DJANGO_SETTINGS_MODULE"] = settings
        done = subprocess.run(
            [sys.executable, *words],
            cwd=self.folder,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr
