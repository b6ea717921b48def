"""The page's own code, put together from the modules in ``static/client/``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders

from beachsite import client

NEEDS_MINIFIER = pytest.mark.skipif(
    not client.has_minifier(), reason="no wheel of the minifier for this machine"
)


def modules(folder: Path, **texts: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.js").write_text(text)
    return folder


@pytest.fixture
def project(tmp_path: Path, settings: Any) -> Path:
    """A project of its own, whose page says hello."""
    settings.BASE_DIR = settings.BEACH_DATA = tmp_path
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
