"""Programs to begin with: ours, and beside them the official examples where those are at hand (D51)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings

from a2ui.errors import A2uiError
from a2ui.gallery.conf import conf
from a2ui.gallery.layout import written
from a2ui.gallery.request import PROGRAM_BYTES
from a2ui.programs.reading import messages_of, parse_json

OURS = Path(__file__).parent / "samples"
STATIC = "/static/"
"""How addresses of pictures begin in them."""
OFFICIAL = "spec/a2ui/specification/{version}/catalogs/{catalog}/examples"
EDITIONS = (
    ("v1_0/derived_1.0", "1.0", "Examples of 1.0"),
    ("v1_0", "v1_0", "Official candidate of 1.0"),
    ("v0_9_1", "v0_9_1", "Official v0.9.1"),
    ("v0_9", "v0_9", "Official v0.9"),
)
"""Folder, prefix of the names, title of each edition; the examples of 1.0 are the official ones in its final form."""


@dataclass(frozen=True, slots=True)
class Sample:
    """`switches` are those that the program is meant to be seen with."""

    name: str
    title: str
    about: str
    program: str
    switches: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """Samples that belong together."""

    title: str
    samples: tuple[Sample, ...]


def groups() -> list[Group]:
    """All there are, in the order of their files."""
    found = [Group("Samples", ours())]
    if conf.shared is not None:
        found += official(conf.shared)
    return found


def find(name: str) -> Sample | None:
    """A sample by name. Names are compared with those there are and never become a path."""
    return next((sample for group in groups() for sample in group.samples if sample.name == name), None)


@cache
def ours() -> tuple[Sample, ...]:
    """The files in `samples/`, their pictures where this site has its static files."""
    return tuple(
        replace(one, program=one.program.replace(STATIC, settings.STATIC_URL)) for one in _samples(OURS, "")
    )


@cache
def official(shared: Path) -> list[Group]:
    """The official examples, read where they are; none where the folder is not there."""
    found = []
    for version, prefix, title in EDITIONS:
        for catalog in ("basic", "minimal"):
            folder = shared / OFFICIAL.format(version=version, catalog=catalog)
            if samples := tuple(_samples(folder, f"{prefix}-{catalog}-")):
                found.append(Group(f"{title} {catalog}", samples))
    return found


def _samples(folder: Path, prefix: str) -> Iterator[Sample]:
    for file in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        # What cannot be read is no sample; a developer's own folder may hold anything.
        try:
            text = file.read_text(encoding="utf-8")
            if len(text) <= PROGRAM_BYTES:
                yield _sample(f"{prefix}{file.stem}", parse_json(text))
        except (OSError, UnicodeDecodeError, A2uiError):
            continue


def _sample(name: str, content: Any) -> Sample:
    known: dict[str, Any] = content if isinstance(content, dict) else {}
    title = known.get("title") or known.get("name") or name
    about = known.get("about") or known.get("description") or ""
    switches = known.get("switches")
    return Sample(
        name,
        str(title),
        str(about),
        written(messages_of(content)),
        tuple((str(key), str(value)) for key, value in switches.items())
        if isinstance(switches, dict)
        else (),
    )
