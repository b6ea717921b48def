"""What is installed is what the checkout has: templates, static files with the pages' code in them, samples."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest
from django.contrib.staticfiles.finders import get_finders
from django.core.files.storage import FileSystemStorage

from beachsite.suite import ROOT
from tests.once import made_once
from tests.wheel import build, editable

OURS = ("a2ui", "beachsite", "envelopes")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZipFile]:
    with ZipFile(made_once(tmp_path_factory, "beach.whl", build)) as archive:
        yield archive


def _collected() -> dict[str, bytes]:
    """What ``collectstatic`` takes from a checkout, by name: of each name the first."""
    found: dict[str, bytes] = {}
    for finder in get_finders():
        for name, storage in finder.list([]):
            if name.split("/")[0] in ("beach", "demo"):
                assert isinstance(storage, FileSystemStorage)
                found.setdefault(name, Path(storage.path(name)).read_bytes())
    return found


def test_static_files_are_those_that_a_checkout_collects(wheel: ZipFile) -> None:
    built = {
        name.partition("/static/")[2]: wheel.read(name)
        for name in wheel.namelist()
        if "/static/" in name and not name.endswith(".py")
    }

    assert built == _collected()
    assert b"from './dom.js'" not in built["beach/panel.js"]


def test_templates_samples_and_data_are_inside(wheel: ZipFile) -> None:
    inside = set(wheel.namelist())
    # Of a folder that is a link to a part of `templates/`, each file.
    there = {
        f"{linked.relative_to(ROOT)}{file.relative_to(linked.resolve()).as_posix().join(['/', ''])}"
        for package in OURS
        for linked in (ROOT / package).rglob("*")
        if linked.is_symlink() and linked.is_dir()
        for file in linked.resolve().rglob("*")
        if file.is_file()
    }
    plain = {
        file.relative_to(ROOT).as_posix()
        for package in OURS
        for file in (ROOT / package).rglob("*")
        if file.is_file() and file.suffix in {".py", ".json", ".html", ".py-tpl", ".typed"}
    }

    assert there | plain <= inside
    assert {Path(name).name for name in there} > {"page.html", "request.txt", "queue.html", "mark.svg"}


def test_every_template_and_static_file_of_the_checkout_belongs_to_a_package(wheel: ZipFile) -> None:
    """Whoever adds a folder to ``templates/`` or ``static/`` has to say whose it is."""
    names = [path.name for path in (ROOT / "templates").rglob("*") if path.is_file()]
    inside = [Path(name).name for name in wheel.namelist() if "/templates/" in name]

    assert sorted(names) == sorted(inside)


def test_nothing_else_is_installed(wheel: ZipFile) -> None:
    tops = {name.split("/")[0] for name in wheel.namelist()}

    assert {top for top in tops if not top.endswith(".dist-info")} == set(OURS)


def test_an_editable_install_puts_the_checkout_on_the_path(tmp_path: Path) -> None:
    """In another way our package would be found after the namespace of the official ones (docs/library.md)."""
    with ZipFile(editable(tmp_path)) as archive:
        ours = [name for name in archive.namelist() if ".dist-info/" not in name]
        assert [Path(name).suffix for name in ours] == [".pth"]
        assert archive.read(ours[0]).decode().strip() == str(tmp_path / "sources")
