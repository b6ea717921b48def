"""All of a part type is said in its module: its name stands nowhere else, in Python, pages or scripts."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import envelopes
from envelopes import part_types as canonical
from envelopes.registries.part_types import PartType, part_types

ROOT = Path(envelopes.__file__).parent.parent

MODULES = {
    found.name: f"{canonical.__name__}.{found.name}" for found in pkgutil.iter_modules(canonical.__path__)
}


def _type_of(module: str) -> PartType:
    (found,) = {
        id(value): value
        for value in vars(importlib.import_module(MODULES[module])).values()
        if isinstance(value, PartType) and _module_of(value.name) == module
    }.values()
    return found


def _module_of(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().replace("-", "_")


@pytest.mark.parametrize("module", MODULES)
def test_each_module_holds_one_type_which_is_registered(module: str) -> None:
    assert part_types[_type_of(module).name] is _type_of(module)


def test_what_the_protocol_names_is_registered_before_any_application() -> None:
    ours = [kind.name for kind in part_types if kind.canonical]

    assert sorted(map(_module_of, ours)) == sorted(MODULES)
    assert list(part_types.names())[: len(ours)] == ours
    assert {part_types.place(name).module for name in ours} == {"envelopes.beach"}


# -- names ------------------------------------------------------------------------------------------------------------

NAMES = [_type_of(module).name for module in MODULES]

STATE = "error"
"""Also a turn state, how a turn ended, a key of results and of messages: only where a type is meant is it one."""

ELSEWHERE = {
    ("thinking", "envelopes/providers"): "a kind of block in the APIs of models",
    ("artifact", "envelopes/models/artifact.py"): "a relation of models",
    ("artifact", "envelopes/artifacts/storing.py"): "the same",
    ("artifact", "envelopes/urls.py"): "the name of an address",
    ("ack", "envelopes/transports/panel/consumer.py"): "a frame: something of the page has been stored",
    ("ack", "envelopes/transports/panel/frames.py"): "the same",
    ("ack", "static/client/outbox.js"): "the same",
    ("ack", "envelopes/transports/live/door.py"): "a frame: something of a client has been stored",
    ("error", "templates/gallery/agent.html"): "what A2UI answers to a message that it refuses",
}
"""What is no name of a part type, though it is written like one."""

AGENTS = ("beachsite/demo/", "envelopes/fakes/")
"""Call respond(), and say how to."""


@cache
def _sources() -> list[tuple[str, ast.AST]]:
    found = []
    for package in ("envelopes", "beachsite"):
        for file in sorted((ROOT / package).rglob("*.py")):
            name = str(file.relative_to(ROOT))
            if not name.startswith((*AGENTS, "envelopes/part_types/")) and "/migrations/" not in name:
                found.append((name, ast.parse(file.read_text(encoding="utf-8"))))
    return found


def _words_of(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """The text of a module but for what it says of itself."""
    told = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.value, node.lineno


@cache
def _texts() -> dict[str, list[str]]:
    """Where each text stands."""
    found: dict[str, list[str]] = {}
    for file, tree in _sources():
        for text, line in _words_of(tree):
            found.setdefault(text, []).append(f"{file}:{line}")
    return found


def _is_known(name: str, place: str) -> bool:
    return any(name == word and place.startswith(file) for word, file in ELSEWHERE)


def _is_word(name: str) -> bool:
    """Whether people say it in sentences as well."""
    return name.isalpha() and name.islower()


@pytest.mark.parametrize("name", [name for name in NAMES if name != STATE])
def test_no_module_but_its_own_knows_the_name_of_a_part_type(name: str) -> None:
    inside = re.compile(rf"(?<![\w-]){name}(?![\w-])")
    found = [
        place
        for text, places in _texts().items()
        if (text == name if _is_word(name) else inside.search(text))
        for place in places
        if not _is_known(name, place)
    ]

    assert found == []


def _meant(node: ast.AST) -> Iterator[ast.AST]:
    """What stands where the name of a part type would."""
    match node:
        case ast.Dict():
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value in ("partType", "part_type"):
                    yield value
        case ast.keyword(arg="partType" | "part_type"):
            yield node.value
        case ast.Compare() if "part_type" in ast.unparse(node) or "partType" in ast.unparse(node):
            yield from (node.left, *node.comparators)
        case ast.Compare() if re.search(r"\bkind\.name\b", ast.unparse(node)):
            yield from (node.left, *node.comparators)
        case ast.Subscript() if ast.unparse(node.value).endswith("part_types"):
            yield node.slice
        case ast.Call() if re.search(r"part_types\.get$|^draw_with$|^PartType$", ast.unparse(node.func)):
            yield from node.args[:1]


def test_no_module_but_its_own_means_an_error_part_by_its_name() -> None:
    found = [
        f"{file}:{value.lineno}"
        for file, tree in _sources()
        for node in ast.walk(tree)
        for value in _meant(node)
        for value in ast.walk(value)
        if isinstance(value, ast.Constant) and value.value == STATE
    ]

    assert found == []


@pytest.mark.parametrize(
    "code",
    [
        '{"partType": "error"}',
        'Metadata(partType="error")',
        'row.part_type == "error"',
        'kind.name in ("error", "x")',
        'part_types["error"]',
        'draw_with("error", f)',
    ],
)
def test_where_a_type_is_meant_is_seen(code: str) -> None:
    assert any(
        isinstance(inner, ast.Constant) and inner.value == STATE
        for node in ast.walk(ast.parse(code))
        for value in _meant(node)
        for inner in ast.walk(value)
    )


_COMMENT = {".js": r"^\s*//.*?$|(?<=\s)//.*?$|/\*.*?\*/", ".html": r"\{#.*?#\}|<!--.*?-->"}

PAGES = sorted(
    file
    for folder in ("static", "templates", "envelopes", "beachsite")
    for file in (ROOT / folder).rglob("*")
    if file.suffix in _COMMENT
)


@cache
def _pages() -> dict[str, str]:
    """Scripts and templates without their comments."""
    return {
        str(file.relative_to(ROOT)): re.sub(
            _COMMENT[file.suffix], "", file.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
        )
        for file in PAGES
    }


def _in_pages(name: str) -> list[str]:
    """Those that have it in quotes or in a pattern; one that is no word, anywhere."""
    inside = rf"""(?<=['"`/|]){name}(?=['"`/|])""" if _is_word(name) else rf"(?<![\w-]){name}(?![\w-])"
    return [file for file, text in _pages().items() if re.search(inside, text)]


@pytest.mark.parametrize("name", NAMES)
def test_no_page_and_no_script_knows_the_name_of_a_part_type(name: str) -> None:
    assert [file for file in _in_pages(name) if not _is_known(name, file)] == []


def test_what_is_excepted_is_there() -> None:
    for word, file in ELSEWHERE:
        found = [*_texts().get(word, ()), *_in_pages(word)]
        assert any(place.startswith(file) for place in found), file
