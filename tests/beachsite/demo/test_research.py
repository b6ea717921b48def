from __future__ import annotations

import pytest

from beachsite.demo.errors import UnknownPlace
from beachsite.demo.research import ResearchDestination, researcher
from beachsite.demo.surfaces.research import SECTIONS
from envelopes.errors import RespondRefused
from envelopes.protocol.parts import check_part
from envelopes.types import JsonObject
from tests.beachsite.demo.stage import Context


async def test_every_step_is_told_twice_and_in_order() -> None:
    context = Context()

    await researcher()(context, ResearchDestination(destination="Corfu"))

    progress = [part["data"] for part in context.parts if part["metadata"]["partType"] == "progress"]
    assert [step["status"] for step in progress] == ["todo"] * 5 + ["running", "done"] * 5
    assert len({step["id"] for step in progress}) == 5
    assert {step["group"] for step in progress} == {"Researching Corfu"}


async def test_everything_it_emits_is_a_valid_part() -> None:
    context = Context()

    await researcher()(context, ResearchDestination(destination="porto"))

    for part in context.parts:
        check_part(part, origin="actor")


async def test_the_result_has_all_sections_and_a_source_for_each() -> None:
    result = await researcher()(Context(), ResearchDestination(destination="Madeira"))

    assert result["destination"] == "Funchal"
    assert set(SECTIONS) <= set(result)
    assert [source["section"] for source in result["sources"]] == list(SECTIONS)


async def test_it_waits_between_steps(settings: pytest.FixtureRequest) -> None:
    settings.BEACH_DEMO_PACE = 3  # type: ignore[attr-defined]
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    await researcher(sleep)(Context(), ResearchDestination(destination="Corfu"))

    assert slept == [3.0] * 5


async def test_the_dashboard_belongs_to_the_call() -> None:
    first, again, other = Context(call_id="abc123"), Context(call_id="abc123"), Context(call_id="xyz789")

    for context in (first, again, other):
        await researcher()(context, ResearchDestination(destination="Corfu"))

    assert first.parts == again.parts
    assert _created(first) != _created(other)


async def test_a_call_that_runs_again_after_a_crash_fills_its_own_card() -> None:
    class Again(Context):
        async def emit(self, *parts: JsonObject) -> None:
            if any(
                "createSurface" in message for part in parts for message in part["data"].get("messages", [])
            ):
                raise RespondRefused("Surface exists.")
            await super().emit(*parts)

    context = Again()
    await researcher()(context, ResearchDestination(destination="Corfu"))

    verbs = [next(iter(message.keys() - {"version"})) for message in context.parts[5]["data"]["messages"]]
    assert verbs == ["updateDataModel", "updateComponents"]


async def test_an_unknown_place() -> None:
    with pytest.raises(UnknownPlace, match="It knows Corfu"):
        await researcher()(Context(), ResearchDestination(destination="Oslo"))


def _created(context: Context) -> str:
    return str(context.parts[5]["data"]["messages"][0]["createSurface"]["surfaceId"])
