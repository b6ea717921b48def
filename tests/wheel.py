"""The wheel, built from the files of the checkout as they are now."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from beachsite.suite import ROOT

PARTS = (":!tests", ":!docs", ":!.ci")


def build(target: Path) -> None:
    """Builds the wheel as ``target``, in a folder of its own: setuptools leaves things beside what it reads."""
    with TemporaryDirectory() as folder:
        _asked("build_wheel", Path(folder)).rename(target)


def editable(folder: Path) -> Path:
    """What an editable install of a checkout in ``folder / "sources"`` installs: a wheel too."""
    return _asked("build_editable", folder)


def _asked(step: str, folder: Path) -> Path:
    """As pip asks for it, without pip, and with what is installed here."""
    _copy(folder / "sources")
    backend = f"from setuptools import build_meta; build_meta.{step}({str(folder)!r})"
    done = subprocess.run(
        [sys.executable, "-c", backend],
        cwd=folder / "sources",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (made,) = folder.glob("*.whl")
    return made


def _copy(folder: Path) -> None:
    """The files that git knows or would add, links as links."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ".", *PARTS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        source, copy = ROOT / name, folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            copy.symlink_to(source.readlink())
        elif source.is_file():
            copy.write_bytes(source.read_bytes())
