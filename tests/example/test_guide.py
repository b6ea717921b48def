"""docs/example.md shows what the files of the example hold; tests/browser has them in a site, with and without ours."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from beachsite.suite import ROOT

APP = ROOT / "docs" / "example" / "helpdesk"
GUIDE = (ROOT / "docs" / "example.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"```python\n# helpdesk/(\S+)\n(.*?)```", GUIDE, re.DOTALL)


@pytest.mark.parametrize(("name", "code"), SHOWN, ids=[name for name, _ in SHOWN])
def test_what_it_shows_is_in_the_file(name: str, code: str) -> None:
    assert code in (APP / name).read_text(encoding="utf-8")


def test_it_names_every_file() -> None:
    table = GUIDE.split("| file | has |")[1].split("\n\n")[0]
    named = set(re.findall(r"`([\w./]+)`", table))
    files = [file for file in APP.rglob("*") if file.is_file() and file.suffix in (".py", ".html", ".css")]
    untold = {"__init__.py", "apps.py", "management/commands/helpdesk_demo.py"}

    def told(file: Path) -> bool:
        name = str(file.relative_to(APP))
        return name in named | untold or file.name == "__init__.py" or name.startswith("migrations/")

    assert len(SHOWN) == 7
    assert [file for file in files if not told(file)] == []
    assert [name for name in named if not name.startswith("helpdesk.") and not (APP / name).exists()] == []
