"""The guide about prompts: its snippets run, and what it says is so."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from a2ui import BASIC_CATALOG_1_0, taught
from a2ui.teaching.whole import MOST_BYTES
from beachsite.suite import ROOT
from envelopes.checks import registered as checks
from envelopes.protocol.references import Results, resolved
from envelopes.protocol.respond_tool import offered, respond_tool
from envelopes.providers.scripted import Say, ScriptedProvider, data
from envelopes.registries.actors import Actor, actors
from envelopes.registries.catalogs import Own, catalogs
from envelopes.registries.part_types import part_types
from envelopes.runtime.prompting import prompt_for
from tests.desk import desk, replies

GUIDE = (ROOT / "docs" / "prompts.md").read_text(encoding="utf-8")
SEAT, GAUGE = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)


def run(code: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "shop.beach"}
    exec(compile(code, "prompts.md", "exec", dont_inherit=True), names)  # noqa: S102 - our own page
    return names


def test_the_part_type_is_told_to_those_who_can_use_it_with_its_schema() -> None:
    seat = run(SEAT)["SEAT"]
    anybody = Actor("mo", "Mo", "", "", lambda: None)  # type: ignore[arg-type, return-value]
    with part_types.including(seat):
        assert seat.name in part_types and seat not in offered(anybody) and seat not in offered()
        branch = respond_tool(None, [seat])["input_schema"]["properties"]["parts"]["items"]["anyOf"][0]
        assert branch["properties"]["data"]["properties"]["row"] == {
            "maximum": 60, "minimum": 1, "type": "integer",
        }  # fmt: skip
        assert checks.taught(None) == []


def test_the_component_is_told_as_the_guide_says() -> None:
    assert f"```\n{run(GAUGE)['told']}\n```" in GUIDE


def test_the_figures_are_so() -> None:
    size = len(taught([BASIC_CATALOG_1_0]).text.encode())

    assert f"at most {MOST_BYTES:,} bytes of UTF-8" in GUIDE
    assert abs(size - int(re.findall(r"about ([\d,]+) of them", GUIDE)[0].replace(",", ""))) < 200


def test_the_table_names_the_sections() -> None:
    actor = next(iter(actors))

    named = re.findall(r"^\| (\w+) \| ", GUIDE, re.MULTILINE)[1:]
    assert named == [name for name, _ in prompt_for(actor).sections]


def test_the_reference_is_one() -> None:
    reference = json.loads(GUIDE.split("```json\n")[1].split("```")[0])
    results = Results()
    results.add("search_flights", {"flights": [1]})
    part = {"metadata": {"partType": "domain-data"}, "data": {"all": reference}}
    made: Any = resolved({"parts": [part]}, lambda: results, limit=100)

    assert made["parts"][0]["data"] == {"all": [1]}


@pytest.mark.django_db(transaction=True)
async def test_the_refusal_is_as_the_guide_shows_it() -> None:
    shown = json.loads(GUIDE.split("```json\n")[2].split("```")[0])
    rows = [
        {"id": "root", "component": "Card", "child": "prices"},
        {"id": "prices", "component": "Chart"},
    ]
    body = {"surfaceId": "s", "catalogId": BASIC_CATALOG_1_0.id, "components": rows}
    broken = data("a2ui-surface", {"version": "1.0", "createSurface": body})

    def strict(script: Any) -> ScriptedProvider:
        return ScriptedProvider(script, pace=0, strict_surfaces=True)

    async with desk(replies([Say([broken])]), provider=strict) as d:
        await d.say("Hello")
        (first, *_) = await d.rows("refused")
    error = first.data["error"]
    assert {key: error[key] for key in ("code", "message", "path")} == {
        key: shown[key] for key in ("code", "message", "path")
    }
    (problem,), (told,) = error["problems"], shown["problems"]
    assert {key: problem[key] for key in told if key != "allowed"} == {
        key: told[key] for key in told if key != "allowed"
    }
    assert problem["allowed"][:4] == told["allowed"][:4]


def test_the_check_tells_of_what_has_no_room_and_of_catalogs_that_are_not_there() -> None:
    gauge = type(run(GAUGE)["ACME"].components["Gauge"])
    many = [type(f"G{at}", (gauge,), {"name": f"G{at}", "description": "x" * 200})() for at in range(60)]
    large = BASIC_CATALOG_1_0.extended("https://acme.example/large.json", components=many)
    actor = Actor("mo", "Mo", "", "", lambda: None, catalogs=(large.id,))  # type: ignore[arg-type, return-value]
    assert checks.prompts(None) == []
    with catalogs.including(Own(large.id, large)), actors.including(actor):
        (warning,) = [one for one in checks.prompts(None) if "'mo'" in one.msg]
        assert (warning.id, "large.json: G" in warning.msg) == ("envelopes.W060", True)
    with actors.including(replace(actor, catalogs=("urn:nowhere",))):
        (error,) = checks.prompts(None)
        assert (error.id, "urn:nowhere" in error.msg) == ("envelopes.E060", True)
