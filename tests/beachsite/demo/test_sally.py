from __future__ import annotations

import pytest

from beachsite.demo import sally
from beachsite.demo.pacing import PacedModel
from envelopes.registries.actors import actors


def test_sally_is_there() -> None:
    assert actors["sally"] is sally.SALLY


def test_without_a_key_she_is_scripted_and_says_so(settings: pytest.FixtureRequest) -> None:
    settings.ANTHROPIC_API_KEY = ""  # type: ignore[attr-defined]

    model = sally.provider()

    assert isinstance(model, PacedModel)
    assert "Scripted" in model.label


def test_with_a_key_she_is_claude(settings: pytest.FixtureRequest) -> None:
    settings.ANTHROPIC_API_KEY = "key"  # type: ignore[attr-defined]

    assert sally.provider().name == "anthropic"


def test_the_instructions_name_every_tool() -> None:
    for tool in sally.SALLY.tools:
        assert tool.name in sally.SALLY.instructions


def test_six_prompts() -> None:
    assert len(sally.SALLY.prompts) == 6
