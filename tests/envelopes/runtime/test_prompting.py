"""What models are told: made from what is registered, the same to the byte each time, and printed by a command."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from a2ui import BASIC_CATALOG_1_0, BEACH_CATALOG_1_0
from beachsite.demo.sally import SALLY
from envelopes.management.prompting import sizes_of
from envelopes.registries.actors import Actor, actors
from envelopes.registries.catalogs import Own, catalogs
from envelopes.registries.part_types import part_types
from envelopes.runtime.prompting import prompt_for
from tests.a2ui.teaching.test_taught import ACME

OTHER = Actor("scout", "Scout", "finds things", "You find.", lambda: None)  # type: ignore[arg-type, return-value]


def section(actor: Actor, name: str) -> str:
    return dict(prompt_for(actor).sections)[name]


def test_sally_is_told_all_of_it_in_a_bounded_text(settings: Any) -> None:
    settings.BEACH_A2UI_CATALOGS = [BEACH_CATALOG_1_0.id]
    prompt = prompt_for(SALLY)

    assert list(dict(prompt.sections)) == ["instructions", "respond", "tools", "a2ui"]
    assert prompt.system.startswith("You are Sally")
    assert "- Table: Rows of a list" in section(SALLY, "a2ui") and "- Button {" in section(SALLY, "a2ui")
    assert len(section(SALLY, "a2ui").encode()) <= 12_000
    assert prompt.left_out == []
    assert [tool["name"] for tool in prompt.tools] == ["respond", *(tool.name for tool in SALLY.offered)]
    for kind in ("ack", "response", "a2ui-surface"):
        assert part_types[kind].taught in prompt.system
    assert "search_flights (flight-results)" in section(SALLY, "tools")
    assert "check_fare" not in section(SALLY, "tools")


def test_the_basic_catalog_alone_fits_too() -> None:
    told = section(OTHER, "a2ui")

    assert len(told.encode()) <= 12_000
    assert BASIC_CATALOG_1_0.id in told and BEACH_CATALOG_1_0.id not in told
    assert section(OTHER, "tools") == ""


def test_it_is_the_same_until_something_else_is_registered(settings: Any) -> None:
    before = prompt_for(SALLY)

    assert prompt_for(SALLY) == before
    assert "scout" not in before.system
    with actors.including(OTHER):
        assert "`scout`: Scout, finds things" in prompt_for(SALLY).system
        assert prompt_for(SALLY).tools[0]["input_schema"]["properties"]["passTo"]["enum"] == [
            *(name for name in actors.names() if name != "sally")
        ]
    settings.BEACH_A2UI_CATALOGS = [BEACH_CATALOG_1_0.id]
    assert BEACH_CATALOG_1_0.id in prompt_for(SALLY).system


def test_an_actor_may_say_which_catalogs_matter_to_it() -> None:
    with catalogs.including(Own(ACME.id, ACME)):
        assert "- Gauge: " in section(OTHER, "a2ui")
        only = Actor("scout", "Scout", "", "", lambda: None, catalogs=(BASIC_CATALOG_1_0.id,))  # type: ignore[arg-type, return-value]
        assert "- Gauge: " not in section(only, "a2ui")


def test_the_command_prints_prompt_and_schema_with_their_sizes() -> None:
    out = StringIO()
    call_command("beach", "prompt", "sally", stdout=out)
    unnamed = StringIO()
    call_command("beach", "prompt", stdout=unnamed)
    assert unnamed.getvalue() == out.getvalue()
    prompt = prompt_for(SALLY)
    sizes = sizes_of(prompt)

    assert prompt.system in out.getvalue()
    for name, size in sizes.items():
        assert f"{size:>7,}  {name}\n" in out.getvalue()
    assert sizes["the whole prompt"] == len(prompt.system.encode())
    assert sizes["prompt: a2ui"] == len(section(SALLY, "a2ui").encode())
    assert json.dumps(prompt.tools[0]["input_schema"], ensure_ascii=False, indent=1) in out.getvalue()


def test_the_command_prints_json_and_refuses_who_is_not_there() -> None:
    out = StringIO()
    call_command("beach", "prompt", "sally", "--json", stdout=out)
    told = json.loads(out.getvalue())

    assert told["system"] == prompt_for(SALLY).system
    assert told["tools"] == prompt_for(SALLY).tools
    assert told["bytes"] == sizes_of(prompt_for(SALLY)) and told["leftOut"] == []
    with pytest.raises(CommandError, match="nobody"):
        call_command("beach", "prompt", "nobody", stdout=out)
