"""The finder of the pages' own code where they are not built: in a checkout, and so in an editable install.

A project that has Beach from a wheel needs none of it: the files lie below ``static/`` of the application.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

from envelopes.client import bundling
from envelopes.conf import conf

CHECKOUT = Path(__file__).resolve().parents[2]
MINIFIER = "tdewolff-minify"


def built(name: str) -> Path:
    """A folder with the file of this name, of the sources as they are now.

    What was made once is kept. Whoever debugs gets code readable, as styles are for everyone.
    """
    how = ""
    if bundling.is_code(name) and bundling.has_minifier() and not settings.DEBUG:
        how = version(MINIFIER)
    source = bundling.source(CHECKOUT / "static", name)
    digest = hashlib.sha256(f"{how} {source}".encode()).hexdigest()[:16]
    folder = (
        Path(conf.BEACH_CLIENT_FOLDER) if conf.BEACH_CLIENT_FOLDER else CHECKOUT / "var" / "client"
    ) / digest
    target = folder / name
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        # Another process may be at it too: each writes a file of its own, and the last one's stays.
        draft = target.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
        draft.write_text(bundling.minified(source) if how else source, encoding="utf-8")
        draft.replace(target)
    return folder


def is_checkout() -> bool:
    """Whether there is anything to make them of; a wheel has them made."""
    return (CHECKOUT / "static" / "client").is_dir()


def _made_here() -> Iterable[str]:
    return bundling.FILES if is_checkout() else ()


class ClientFinder(BaseFinder):
    """Finds the files for Django's static files: for a server that looks them up, and for ``collectstatic``. In an
    install from a wheel it finds nothing, and others do."""

    def find(self, path: str, find_all: bool = False, **_: Any) -> Any:
        """The file, if that is what is asked for."""
        found = [str(built(path) / path)] if path in _made_here() else []
        return found if find_all or not found else found[0]

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[Any]:
        """The files, and where each lies."""
        for name in _made_here():
            yield name, FileSystemStorage(location=built(name))
