"""The page's own code and styles, put together from what lies in ``static/client/`` and ``static/styles/``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

from beachsite.suite import ROOT
from envelopes.client import bundling as client
from envelopes.client import finders as ours

NEEDS_MINIFIER = pytest.mark.skipif(
    not client.has_minifier(), reason="no wheel of the minifier for this machine"
)


def modules(folder: Path, **texts: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.js").write_text(text)
    return folder


@pytest.fixture
def project(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of its own, whose page says hello."""
    monkeypatch.setattr(ours, "CHECKOUT", tmp_path)
    settings.BEACH_CLIENT_FOLDER = str(tmp_path / "client")
    modules(
        tmp_path / "static/client",
        panel="// Says hello.\nconst greeting = 'hello';\nconsole.log(greeting);\n",
    )
    return tmp_path


def test_each_module_comes_once_and_after_those_it_imports(tmp_path: Path) -> None:
    folder = modules(
        tmp_path,
        panel="import { b } from './b.js';\nimport { a } from './a.js';\nb(a);\n",
        b="import { a } from './a.js';\nexport function b() { return a; }\n",
        a="export const a = 1;\n",
        stray="this is not needed by anything",
    )

    assert client.bundle(folder) == ("(() => {\nconst a = 1;\n\nfunction b() { return a; }\n\nb(a);\n})();\n")


def test_what_a_module_on_top_exports_can_be_imported_while_a_page_runs(tmp_path: Path) -> None:
    folder = modules(
        tmp_path,
        files="import { a } from './a.js';\nexport const add = () => a;\nexport async function send() {}\n",
        a="export const a = 1;\n",
    )

    assert client.bundle(folder, "files") == (
        "export const { add, send } = (() => {\nconst a = 1;\n\nconst add = () => a;\nasync function send() {}\n"
        "return { add, send };\n})();\n"
    )


@pytest.mark.parametrize(
    ("panel", "other", "complaint"),
    [
        ("import * as a from './a.js';\n", "", "not known here"),
        ("import { a as b } from './a.js';\n", "", "not known here"),
        ("import './a.js';\n", "", "not known here"),
        ("export default 1;\n", "", "not known here"),
        ("import { a } from './a.js';\n", "import { b } from './panel.js';\n", "imports itself"),
        ("import { a } from './a.js';\nlet same;\n", "export function same() {}\n", "called same"),
    ],
)
def test_what_cannot_be_put_together_is_refused(
    tmp_path: Path, panel: str, other: str, complaint: str
) -> None:
    with pytest.raises(client.BundleError, match=complaint):
        client.bundle(modules(tmp_path, panel=panel, a=other))


@NEEDS_MINIFIER
def test_it_is_served_without_comments_and_long_names(project: Path) -> None:
    served = Path(finders.find("beach/panel.js")).read_text()

    assert served.count("hello") == 1
    assert "greeting" not in served


@NEEDS_MINIFIER
def test_what_is_called_by_a_letter_is_called_on_what_has_it() -> None:
    """A field in use could not be redrawn."""
    served = client.minified(
        "const both = { ['r'](id) { return both['x'](id); }, async ['x'](id) { return id; } };"
    )

    assert re.fullmatch(
        r"const both=\{r\(\w+\)\{return both\.x\(\w+\)\},async x\(\w+\)\{return \w+\}\}",
        served.replace("let ", "const "),
    )


def test_who_debugs_reads_the_sources(project: Path, settings: Any) -> None:
    settings.DEBUG = True

    assert "// Says hello." in Path(finders.find("beach/panel.js")).read_text()


def test_without_a_minifier_the_code_is_served_as_it_is(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "has_minifier", lambda: False)

    assert "console.log(greeting)" in Path(finders.find("beach/panel.js")).read_text()


@NEEDS_MINIFIER
def test_code_that_is_broken_is_refused_with_the_place(project: Path) -> None:
    modules(project / "static/client", panel="const a = 1;\nlet b, a = 2;\n")

    with pytest.raises(client.BundleError, match="a has already been declared on line 3"):
        finders.find("beach/panel.js")
    assert not list(project.glob("client/*/beach/*"))


def test_a_change_shows_on_the_next_look(project: Path) -> None:
    first = finders.find("beach/panel.js")
    assert finders.find("beach/panel.js") == first

    modules(project / "static/client", panel="console.log('good day');\n")

    second = finders.find("beach/panel.js")
    assert "good day" in Path(second).read_text()
    assert second != first


def test_nothing_else_is_found_and_the_modules_are_not_served() -> None:
    assert finders.find("beach/panel.js", find_all=True) == [finders.find("beach/panel.js")]
    assert finders.find("beach/socket.js") is None
    assert finders.find("client/panel.js") is None


def test_constants_that_are_numbers_or_letters_stand_where_they_are_used(tmp_path: Path) -> None:
    panel = (
        "const WAIT = 200, END = 1e9;   // ms\nconst TEXT = 'WAITING';\nsetTimeout(go, WAIT, TEXT, END);\n"
    )
    assert client.bundle(modules(tmp_path, panel=panel)) == (
        "(() => {\nconst TEXT = 'WAITING';\nsetTimeout(go, 200, TEXT, 1e9);\n})();\n"
    )


def test_every_style_is_sent_and_each_file_speaks_of_one_layer() -> None:
    folder = ROOT / "static" / "styles"
    sheets = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.css")}
    sent = {name: (ours.built(name) / name).read_text(encoding="utf-8") for name in client.SHEETS}

    assert {part for parts in client.SHEETS.values() for part in parts} == set(sheets)
    for name, parts in client.SHEETS.items():
        assert sent[name] == "\n".join(sheets[part] for part in parts)
    layers = {name: set(re.findall(r"^@layer (\w+) \{", text, re.MULTILINE)) for name, text in sheets.items()}
    assert {name: found for name, found in layers.items() if len(found) > 1} == {}


def test_no_style_is_left_over() -> None:
    """Each class that a style speaks of is in the code; one that is made from a value is known by its beginning."""
    made = re.compile(r"a2-(?:w-|img--|error--|h[1-5]$)|g-in-")
    places = [ROOT / name for name in ("a2ui", "beachsite", "envelopes", "static/client", "templates")]
    files = [path for place in places for path in place.rglob("*") if path.suffix in {".py", ".html", ".js"}]
    used = set(re.findall(r"[\w-]+", " ".join(path.read_text(encoding="utf-8") for path in files)))
    for path in (ROOT / "static").rglob("*.css"):
        rules = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        named = set(re.findall(r"\.((?:a2|adm|b|dk|g|is)-[\w-]+)", rules))
        assert {name for name in named - used if not made.match(name)} == set(), path.name


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/accounts/login/", "/no-such-page"])
def test_pages_outside_a_conversation_get_all_that_they_are_styled_with(path: str) -> None:
    page = Client().get(path).text
    named = {name for names in re.findall(r'class="([^"]+)"', page) for name in names.split()}
    sheet = (ours.built("beach/door.css") / "beach/door.css").read_text(encoding="utf-8")

    assert "b-mark__disc" in named
    assert {name for name in named if not re.search(rf"\.{name}\b", sheet)} == set()


def test_where_there_are_no_sources_others_find_what_was_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ours, "CHECKOUT", tmp_path)

    assert ours.ClientFinder().find("beach/panel.js", find_all=True) == []
    assert list(ours.ClientFinder().list([])) == []
