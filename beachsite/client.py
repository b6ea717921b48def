"""The page's own code: readable modules in ``static/client/``, sent as one small file.

A browser gets one module instead of ten, without comments and with short names: one request, and half the bytes.
Nothing has to be built by hand: whoever looks for the file (the server of the demo, ``collectstatic``) finds it made
from the sources as they are.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

ENTRIES = {"beach/panel.js": "panel", "beach/gallery.js": "gallery", "beach/door.js": "door"}
"""What is served, and the module on top of each."""
MINIFIER = "tdewolff-minify"

_IMPORT = re.compile(r"^import \{ \w+(?:, \w+)* \} from '\./(\w+)\.js';\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|let|class)\b)", re.MULTILINE)
_LEFT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)
_NAME = re.compile(r"^(?:async )?(?:function|const|let|class) (\w+)", re.MULTILINE)
_RUN = "import sys, minify; sys.stdout.write(minify.string('application/javascript', sys.stdin.read()))"


class BundleError(ValueError):
    """The sources use a form of import or export that cannot be put together, or a name twice."""


def bundle(folder: Path, entry: str = "panel") -> str:
    """All modules that the entry needs, each after those it imports, in one scope.

    So a name at the top of a module is the only one of its kind among them, and imports are of names as they are.
    """
    modules: dict[str, str] = {}

    def take(name: str, within: tuple[str, ...]) -> None:
        if name in within:
            raise BundleError(f"{name}.js imports itself, by way of {' and '.join(within)}.")
        if name in modules:
            return
        text = (folder / f"{name}.js").read_text(encoding="utf-8")
        for needed in _IMPORT.findall(text):
            take(needed, (*within, name))
        text = _EXPORT.sub("", _IMPORT.sub("", text))
        if left := _LEFT.search(text):
            raise BundleError(f"{name}.js has a form of import or export that is not known here: {left[0]}")
        modules[name] = text

    take(entry, ())
    seen: set[str] = set()
    for name in _NAME.findall("\n".join(modules.values())):
        if name in seen:
            raise BundleError(f"Two modules in static/client/ have something that is called {name}.")
        seen.add(name)
    return "(() => {\n" + "\n".join(modules.values()) + "})();\n"


def minified(source: str) -> str:
    """The same code in fewer bytes; unchanged where there is no minifier for the machine.

    In a process of its own: the minifier brings the runtime of Go, whose threads and signal handlers a server can do
    without.
    """
    if not has_minifier():
        return source
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", _RUN],
        input=source,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        raise BundleError(f"The minifier refused the modules in static/client/: {done.stderr.strip()}")
    return done.stdout


def built(name: str) -> Path:
    """A folder with the file of this name, of the sources as they are now.

    What was made once is kept. Whoever debugs gets it readable.
    """
    source = bundle(settings.BASE_DIR / "static" / "client", ENTRIES[name])
    how = version(MINIFIER) if has_minifier() and not settings.DEBUG else ""
    digest = hashlib.sha256(f"{how} {source}".encode()).hexdigest()[:16]
    folder: Path = settings.BEACH_DATA / "client" / digest
    target = folder / name
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        # Another process may be at it too: each writes a file of its own, and the last one's stays.
        draft = target.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
        draft.write_text(minified(source) if how else source, encoding="utf-8")
        draft.replace(target)
    return folder


class ClientFinder(BaseFinder):
    """Finds the files for Django's static files: for a server that looks them up, and for ``collectstatic``."""

    def find(self, path: str, find_all: bool = False, **_: Any) -> Any:
        """The file, if that is what is asked for."""
        found = [str(built(path) / path)] if path in ENTRIES else []
        return found if find_all or not found else found[0]

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[Any]:
        """The files, and where each lies."""
        for name in ENTRIES:
            yield name, FileSystemStorage(location=built(name))


def has_minifier() -> bool:
    """Not every machine has one: there is no wheel for Apple's processors."""
    return importlib.util.find_spec("minify") is not None
