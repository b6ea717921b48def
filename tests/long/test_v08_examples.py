"""The official examples of v0.8 show all that they say.

They are not among the shared data: `BEACH_V08_EXAMPLES` names a checkout of the A2UI repository that has them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from a2ui import Engine
from tests.a2ui.page import parse

FOLDER = os.environ.get("BEACH_V08_EXAMPLES", "")
if not FOLDER:
    pytest.skip("BEACH_V08_EXAMPLES names no checkout of the A2UI repository", allow_module_level=True)

NOT_WORDS = {"Icon": ("name",), "Image": ("url",), "Video": ("url",), "AudioPlayer": ("url",)}
OTHER_CATALOGS = ("OrgChart", "WebFrame", "Canvas", "GoogleMap")


def examples() -> list[Path]:
    """All of them but those that begin no surface, and those with components of other catalogs."""
    folder = Path(FOLDER)
    files = [
        *folder.glob("specification/v0_8/**/examples/*.json"),
        *folder.glob("samples/**/examples/0.8/*.json"),
        *folder.glob("samples/**/examples/standard_catalog/0.8/*.json"),
    ]
    found = []
    for file in sorted(files):
        text = file.read_text(encoding="utf-8")
        if '"beginRendering"' in text and not any(f'"{name}": {{' in text for name in OTHER_CATALOGS):
            found.append(file)
    return found


@pytest.mark.parametrize("file", examples(), ids=lambda file: "-".join((file.parts[-4], file.stem)))
def test_official_examples_show_all_that_they_say(file: Path) -> None:
    """Every literal of a component, and everything in the data that a component of the surface is bound to."""
    program = json.loads(file.read_text(encoding="utf-8"))
    surfaces = Engine().surfaces()
    problems = [problem for message in program for problem in surfaces.apply(message)]

    assert not [problem.message for problem in problems if problem.refused]
    html = "".join(surface.html() for surface in surfaces)
    page = unescape("".join(parse(html)[0].itertext()) + html)
    wanted = set(said(program))
    assert wanted
    assert {text for text in wanted if text not in page} == set()


def said(program: list[dict[str, Any]]) -> Iterator[str]:
    """The texts of a program, read without any of the engine: literals, and data under names that are bound."""
    names = set()
    for message in program:
        for row in message.get("surfaceUpdate", {}).get("components", ()):
            ((kind, properties),) = row["component"].items()
            for key, value in properties.items():
                if key == "action" or key in NOT_WORDS.get(kind, ()):
                    continue
                yield from members(value, "literalString")
                for path in members(value, "path"):
                    names.add(path.replace("]", "").split("/")[-1].split(".")[-1])
    for message in program:
        for entry in message.get("dataModelUpdate", {}).get("contents", ()):
            yield from bound(entry, names)


def members(value: Any, name: str) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get(name), str):
            yield value[name]
        for inner in value.values():
            yield from members(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from members(inner, name)


def bound(entry: dict[str, Any], names: set[str]) -> Iterator[str]:
    key = entry["key"].split(".")[-1]
    for inner in entry.get("valueMap", ()):
        yield from bound(inner, names)
    text = entry.get("valueString")
    if not text:
        return
    if text.startswith(("[{", "{")):
        for item in json.loads(text):
            yield from (value for name, value in item.items() if name in names)
    elif key in names and not text.startswith("http"):
        yield text
