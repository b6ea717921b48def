"""Builds the foreign page from its pinned packages, where somebody has installed them."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

from tests import needs

FOLDER = Path(__file__).parent
INSTALL = f"npm ci --ignore-scripts --prefix {FOLDER.relative_to(FOLDER.parents[2])}"


@cache
def build() -> None:
    """Makes the page, once, where the server finds it. Ends the test where node or the packages are absent."""
    if shutil.which("npm") is None:
        needs.absent("foreign", "there is no npm (Debian: apt-get install nodejs npm)")
    if not (FOLDER / "node_modules" / "@a2ui" / "lit").is_dir():
        needs.absent("foreign", f"its packages are not installed: {INSTALL}")
    subprocess.run(["npm", "run", "--silent", "build"], cwd=FOLDER, check=True, timeout=120)
