"""Parts of an application are drawn by its template and its module, and readable where these fail."""

from __future__ import annotations

import json
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from envelopes.checks import registered as checks
from envelopes.errors import RegistrationError
from envelopes.registries.part_types import PartType, PartTypeRegistry, part_types
from tests.envelopes.transports.panel.talk import Talk

KIND = PartType(
    "acme.board", frozenset({"actor"}), "flush", "once", data="optional", template="acme/board.html"
)


@pytest.fixture
def templates(tmp_path: Path, settings: Any) -> Path:
    folder = tmp_path / "acme"
    folder.mkdir()
    (folder / "board.html").write_text(
        "<ul>{% for move in data.moves %}<li>{{ move }}</li>{% endfor %}</ul>{{ text }}"
    )
    settings.TEMPLATES = [{**settings.TEMPLATES[0], "DIRS": [tmp_path]}]
    return folder


def played(kind: PartType, words: str | None = None, moves: Any = ("e4", "<b>")) -> str:
    talk = Talk()
    with part_types.including(kind):
        talk.me("Play")
        talk.turn(1)
        talk.part("acme.board", words, data={"moves": list(moves)})
        talk.settle()
        return talk.html()


def test_a_template_draws_from_the_part_and_escapes_it(templates: Path) -> None:
    html = played(KIND, "a < b")

    assert "<ul><li>e4</li><li>&lt;b&gt;</li></ul>a &lt; b" in html
    assert 'class="b-surface"' in html


def test_a_module_gets_the_part_in_an_element_of_its_own(templates: Path) -> None:
    html = played(replace(KIND, module="acme/board.js"), moves=['"><script>x</script>'])

    given = html.split('<acme-board data-part="')[1].split('"')[0]
    assert json.loads(unescape(given))["data"] == {"moves": ['"><script>x</script>']}
    assert "<li>" in html.split("<acme-board")[1].split("</acme-board>")[0]
    assert "<script" not in html
    alone = played(replace(KIND, template="", module="acme/board.js"))
    assert "</acme-board>" in alone and "<ul>" not in alone.split("<acme-board")[1].split("</acme-board>")[0]


@pytest.mark.parametrize("wrong", ["gone", "syntax", "raises"])
def test_where_a_template_fails_the_data_is_shown(
    templates: Path, wrong: str, caplog: pytest.LogCaptureFixture
) -> None:
    file = templates / "board.html"
    if wrong == "gone":
        file.unlink()
    else:
        file.write_text("{% if %}" if wrong == "syntax" else "{% include data.moves %}")
    html = played(KIND, "Words", ["e4"])

    assert "e4" in html and "Words" in html
    assert "cannot be used" in caplog.text


def test_checks_tell_of_a_template_and_a_module_that_are_not_there(templates: Path) -> None:
    assert checks.drawings(None) == []
    with part_types.including(KIND):
        assert checks.drawings(None) == []
    (templates / "broken.html").write_text("{% if %}")
    for template in ("acme/broken.html", "acme/none.html"):
        with part_types.including(replace(KIND, template=template, module="acme/board.js")):
            assert [error.id for error in checks.drawings(None)] == ["envelopes.E003", "envelopes.E004"]


def test_a_module_needs_a_name_with_a_prefix(settings: Any) -> None:
    settings.BEACH_ALLOW_UNPREFIXED = True
    with pytest.raises(RegistrationError, match="no hyphen"):
        PartTypeRegistry("part type").register(replace(KIND, name="board", module="acme/board.js"))
