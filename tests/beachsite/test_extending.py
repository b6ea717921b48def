"""The guide for applications: its pieces are what runs, and its list of names is what there is."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import envelopes
from beachsite.suite import ROOT
from envelopes.checks import registered as checks
from envelopes.errors import ValidationFailed
from envelopes.protocol.parts import check_part
from envelopes.protocol.snippet import system_snippet
from envelopes.registries.part_types import PartTypeRegistry, part_types
from tests.consumer.itinerary import ITINERARY
from tests.envelopes.transports.panel.talk import Talk

GUIDE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
PLANNER = ROOT / "tests" / "consumer"
PART = {"metadata": {"partType": ITINERARY.name}, "data": {"stops": ["Corfu", "Parga <b>"]}}


def _blocks(language: str, text: str = GUIDE) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


# -- a part type ------------------------------------------------------------------------------------------------------


def test_the_guide_shows_the_files_of_an_application_that_is_run() -> None:
    """`tests/browser/test_consumer.py` sees them work."""
    module, beach = _blocks("python")
    file = (PLANNER / "itinerary.py").read_text(encoding="utf-8")

    assert module.split("\n", 1) == ["# planner/itinerary.py", file.split('"""\n\n', 1)[1]]
    assert beach.split("\n\n", 1)[1] in (PLANNER / "beach.py").read_text(encoding="utf-8")
    assert _blocks("html") == [(PLANNER / "templates/planner/itinerary.html").read_text(encoding="utf-8")]
    assert _blocks("js") == [(PLANNER / "static/planner/itinerary.js").read_text(encoding="utf-8")]


def test_a_type_in_the_words_of_the_sources_is_taken_as_the_guide_has_it() -> None:
    (line,) = re.findall(r"`(part_types\.register\(\{.*\}\))`", GUIDE)
    registry = PartTypeRegistry("part type")

    exec(line, {"part_types": registry, "__name__": "planner.beach"})  # noqa: S102
    assert registry["planner.whisper"].buffered == "drop"


def test_the_part_type_of_the_guide_is_checked_taught_retold_and_told() -> None:
    assert ITINERARY.in_words is not None and ITINERARY.retold is not None
    with part_types.including(ITINERARY):
        assert check_part(PART, origin="actor")[0].as_json() == PART
        with pytest.raises(ValidationFailed) as refused:
            check_part({**PART, "data": {"stops": "Corfu"}}, origin="actor")
        assert checks.taught(None) == []
        assert ITINERARY.description in system_snippet()

    assert refused.value.facts["path"] == "/data/stops"
    assert ITINERARY.in_words(PART) == "Itinerary: Corfu, Parga <b>"
    assert ITINERARY.retold(PART) == "[Itinerary: Corfu, Parga <b>]"


def test_the_template_of_the_guide_draws_it(settings: Any) -> None:
    settings.TEMPLATES = [{**settings.TEMPLATES[0], "DIRS": [PLANNER / "templates"]}]
    talk = Talk()
    with part_types.including(ITINERARY):
        talk.me("Plan")
        talk.turn(1)
        talk.part(ITINERARY.name, None, data=PART["data"])
        html = talk.html()

    assert '<ol class="planner-stops"><li>Corfu</li><li>Parga &lt;b&gt;</li></ol>' in html
    assert '<div class="b-prose"><planner-itinerary data-part=' in html


# -- names ------------------------------------------------------------------------------------------------------------

_ROW = re.compile(r"^\| `([a-z0-9_.]+)` \| (.*?) \|", re.MULTILINE)
TABLE: dict[str, set[str]] = {}
for _module, _names in _ROW.findall(GUIDE.split("## What an application may import")[1]):
    TABLE[_module] = (
        set(import_module(_module).__all__)
        if _names == "all that it names"
        else set(re.findall(r"`(\w+)`", _names))
    )


@pytest.mark.parametrize("module", TABLE)
def test_what_may_be_imported_is_there(module: str) -> None:
    found = import_module(module)

    assert TABLE[module]
    assert [name for name in sorted(TABLE[module]) if not hasattr(found, name)] == []


def _imports(code: str) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)


def _ours(code: str) -> list[str]:
    """What code imports of the two packages that is not in the table."""
    return [
        f"{module}: {name}"
        for module, name in _imports(code)
        if module.split(".")[0] in ("envelopes", "a2ui")
        and name not in TABLE.get(module, ())
        and not (TABLE.get(f"{module}.{name}"))
    ]


WRITTEN = ROOT / "envelopes" / "management" / "agent"
APPLICATIONS = [
    *PLANNER.rglob("*.py"),
    *(ROOT / "beachsite" / "demo").rglob("*.py"),
    *(ROOT / "docs" / "example").rglob("*.py"),
    *WRITTEN.glob("*.py-tpl"),
]


@pytest.mark.parametrize("file", APPLICATIONS, ids=lambda file: str(file.relative_to(ROOT)))
def test_an_application_imports_what_it_may(file: Path) -> None:
    # What `beach new-agent` writes has the name of its application left out.
    assert _ours(re.sub(r"{{ \w+ }}", "shop", file.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("name", ["agents.md", "catalogs.md", "extending.md", "models.md", "prompts.md"])
def test_a_guide_imports_what_an_application_may(name: str) -> None:
    blocks = _blocks("python", (ROOT / "docs" / name).read_text(encoding="utf-8"))

    assert [found for block in blocks for found in _ours(block)] == []


@pytest.mark.parametrize("name", ["agents", "extending", "surfaces", "transports"])
def test_a_file_that_a_guide_shows_imports_what_it_uses(name: str) -> None:
    """Whoever copies it has what it needs."""
    guide = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    for block in _blocks("python", guide):
        if block.startswith("# ") or name == "transports":
            assert _unknown(ast.parse(block)) == set(), block[:200]


def _unknown(tree: ast.Module) -> set[str]:
    """The names that are used, and neither imported nor given anywhere in it."""
    known = set(dir(builtins))
    used = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id, ast.Load()):
                used.add(id)
            case ast.Name(id):
                known.add(id)
            case ast.alias(name, asname):
                known.add(asname or name)
            case ast.arg(arg):
                known.add(arg)
            case ast.ClassDef(name) | ast.FunctionDef(name) | ast.AsyncFunctionDef(name):
                known.add(name)
            case ast.ExceptHandler(name=str(name)):
                known.add(name)
    return used - known


@pytest.mark.parametrize(
    "code",
    [
        "import envelopes.turns",
        "from envelopes.models import Turn",
        "from envelopes.registries.tools import declare",
    ],
)
def test_what_is_not_in_the_table_is_found(code: str) -> None:
    assert _ours(code)


@pytest.mark.parametrize("package", [envelopes, import_module("a2ui")], ids=lambda package: package.__name__)
def test_what_may_be_imported_is_typed(package: ModuleType) -> None:
    assert (Path(str(package.__file__)).parent / "py.typed").is_file()
