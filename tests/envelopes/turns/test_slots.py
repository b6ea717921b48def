"""Data of an actor: where it goes and how it comes together is the actor's to say; it is stamped on every row, and
everybody who reads has the same (protocol document, "Slot keys and merge strategy"; D11)."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from pydantic import BaseModel

from envelopes.checks import registered as checks
from envelopes.delivery import envelope_for
from envelopes.errors import RegistrationError
from envelopes.models import Turn
from envelopes.protocol.slots import key_of, update_of
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Call, Conversation, Reply, Say, data, text
from envelopes.registries.slots import Slot
from envelopes.registries.tools import Tool, ToolContext
from envelopes.types import Json, JsonObject
from tests import factories
from tests.desk import Desk, Script, desk, replies

pytestmark = pytest.mark.django_db(transaction=True)

DONE = Say([text("response", "Done.")])


class Nothing(BaseModel):
    """A tool without arguments."""


def _tool(kind: str = "sights", *, emits: JsonObject | None = None, background: bool = False) -> Tool:
    async def look(context: ToolContext, args: Nothing) -> Json:
        if emits is not None:
            await context.emit(emits)
        return {"found": ["Trevi"]}

    return Tool("look", "", Nothing, look, data_kind=kind, background=background)


def _sights(*names: str, **metadata: Any) -> JsonObject:
    return data("domain-data", {"found": list(names)}, dataKind="sights", **metadata)


async def _stamps(d: Desk) -> list[tuple[Any, Any, Any]]:
    return [
        (part["metadata"].get("slotKey"), part["metadata"].get("mergeStrategy"), part["data"])
        for part in await d.parts("domain-data")
    ]


async def _envelopes(d: Desk) -> list[list[JsonObject]]:
    def read() -> list[list[JsonObject]]:
        turns = Turn.objects.filter(session=d.session, status="settled").select_related("session")
        parts = [envelope_for(turn)["parts"] for turn in turns.order_by("number")]
        return [[part for part in found if part["metadata"]["partType"] == "domain-data"] for found in parts]

    return await sync_to_async(read)()


# -- stamped -----------------------------------------------------------------------------------------------------


async def test_parts_results_and_what_tools_say_are_stamped_alike() -> None:
    rome = Slot("sights", key="ta.research-rome", strategy="append")
    script = replies([Call("look")], [Say([_sights("Forum")], "awaiting")], [DONE])
    async with desk(script, _tool(emits=_sights("Pantheon")), slots=(rome,)) as d:
        await d.say("Rome")

        stamp = ("ta.research-rome", "append")
        assert await _stamps(d) == [
            (*stamp, {"found": ["Pantheon"]}),
            (*stamp, {"found": ["Trevi"]}),
            (*stamp, {"found": ["Forum"]}),
        ]
        (whole,) = (await _envelopes(d))[0]
        assert whole == {
            "data": {"found": ["Pantheon", "Trevi", "Forum"]},
            "metadata": {
                "partType": "domain-data",
                "dataKind": "sights",
                "slotKey": "ta.research-rome",
                "mergeStrategy": "append",
            },
        }


async def test_a_slot_that_a_part_names_stands_and_its_strategy_is_the_actors() -> None:
    said = [
        _sights("Forum", slotKey="ta.rome", mergeStrategy="deep-merge"),
        data("domain-data", {"a": 1}, slotKey="x"),
    ]
    async with desk(
        replies([Say([*said, text("response", "Done.")])]), slots=(Slot("sights", strategy="append"),)
    ) as d:
        await d.say("Rome")

        assert await _stamps(d) == [("ta.rome", "append", {"found": ["Forum"]}), ("x", "replace", {"a": 1})]


async def test_without_a_slot_of_its_own_data_is_as_it_was_said() -> None:
    async with desk(
        replies([Say([_sights("Forum", mergeStrategy="append"), text("response", "Done.")])])
    ) as d:
        await d.say("Rome")

        assert await _stamps(d) == [(None, None, {"found": ["Forum"]})]


async def test_a_strategy_that_does_not_exist_is_refused_where_it_is_said() -> None:
    async with desk(replies([Say([_sights("Forum", mergeStrategy="overwrite")])], [DONE])) as d:
        await d.say("Rome")

        (refused,) = await d.rows("refused")
        assert refused.data["error"]["path"] == "/parts/0/metadata/mergeStrategy"
        assert await _stamps(d) == []


@pytest.mark.parametrize(
    ("slots", "said"),
    [
        (lambda: (Slot("a", strategy="merge"),), "no way in which data comes together"),  # type: ignore[arg-type]
        (lambda: (Slot("a"), Slot("a", key="k")), "two slots for data of the kind 'a'"),
        (lambda: (Slot(key="k"), Slot()), "two slots for data of any other kind"),
        (
            lambda: (Slot("a", key="k"), Slot("b", key="k", strategy="append")),
            "two strategies for the slot 'k'",
        ),
        (lambda: (Slot("a", key="beach:x"),), "is the runtime's"),
        (lambda: (Slot("_ggui:a"),), "is the runtime's"),
        (lambda: (Slot("a" * 129),), "does not name data"),
        (lambda: (Slot("a\x00"),), "does not name data"),
        (lambda: (Slot(" "),), "can be read"),
    ],
)
def test_a_configuration_that_contradicts_itself_is_refused_where_it_is_written(
    slots: Any, said: str
) -> None:
    with pytest.raises(RegistrationError, match=said), factories.acting(slots=slots()):
        pass


def test_two_actors_with_two_strategies_for_one_slot_are_told_of() -> None:
    slot = Slot("a", key="k", strategy="append")
    with (
        factories.acting(name="one", slots=(slot,)),
        factories.acting(name="two", slots=(Slot("b", key="k"),)),
    ):
        (warning,) = checks.slots(None)
    with factories.acting(name="one", slots=(slot,)), factories.acting(name="two", slots=(Slot("b"), slot)):
        assert list(checks.slots(None)) == []

    assert warning.id == "envelopes.W002"
    assert all(name in warning.msg for name in ("'k'", "'append'", "'one'", "'replace'", "'two'"))


# -- once, when it is there ----------------------------------------------------------------------------------------


async def test_a_result_is_on_the_page_before_the_turn_goes_on() -> None:
    seen: list[str] = []

    def script(request: ModelRequest) -> Reply:
        if not Conversation(request).outcomes:
            return Reply([Call("look")])
        seen.append("called again")
        return Reply([DONE])

    async with desk(script, _tool()) as d:
        await d.say("Rome")

        rows = [row.part_type or row.kind for row in await d.rows() if row.audience == "delivered"]
        assert rows == ["message", "turn", "turn", "domain-data", "response", "settled"]
        assert "Trevi" in await d.html() and (await d.html()).count("Trevi") == 1


async def test_data_with_a_card_of_the_agents_own_waits_for_that_on_pages_and_nowhere_else() -> None:
    async with desk(replies([Call("look")], [DONE]), _tool(), slots=(Slot(own_card=True),)) as d:
        await d.say("Rome")

        (row,) = await d.rows("part", "domain-data")
        assert row.data["ownCard"] is True and "ownCard" not in row.data["part"]["metadata"]
        assert [part["data"] for part in (await _envelopes(d))[0]] == [{"found": ["Trevi"]}]
        # None came.
        page = await d.html()
        assert page.index("Done.") < page.index("Trevi")


# -- whole ---------------------------------------------------------------------------------------------------------


def _handed(*gathered: Any) -> Script:
    return replies([*gathered], [Say([text("response", "Over.")], "passed", pass_to="drafter")])


async def test_data_of_a_kind_is_one_part_over_a_handover_and_is_sent_whole_where_it_came_in_pieces() -> None:
    slots = (Slot("sights", strategy="append"),)
    drafted = replies([Say([_sights("Forum"), text("response", "Done.")])])
    async with (
        desk(drafted, name="drafter", slots=slots),
        desk(_handed(Call("look")), _tool(), slots=slots) as d,
    ):
        await d.say("Rome")
        await d.quiet()

        assert await _stamps(d) == [
            (None, "append", {"found": ["Trevi"]}),
            (None, "append", {"found": ["Forum"]}),
            (None, "replace", {"found": ["Trevi", "Forum"]}),
        ]
        passed, answered = await _envelopes(d)
        assert passed == [] and [part["data"] for part in answered] == [{"found": ["Trevi", "Forum"]}]
        assert (await d.rows("turn"))[2].data["goesOn"] == 1
        # One card, in which both are.
        assert (await d.html()).count("Trevi") == 1


@pytest.mark.parametrize(
    "slot",
    [Slot("sights"), Slot("sights", key="s", strategy="append")],
    ids=["replaced", "merged by readers"],
)
async def test_where_nothing_differs_from_what_was_sent_nothing_is_added(slot: Slot) -> None:
    async with desk(
        replies([Call("look")], [Say([_sights("Forum"), *DONE.parts])]), _tool(), slots=(slot,)
    ) as d:
        await d.say("Rome")

        assert len(await _stamps(d)) == 2


async def test_turns_converge_and_a_stream_has_what_the_envelopes_say() -> None:
    slots = (Slot("sights", key="ta.rome", strategy="append"),)
    script = replies(
        [Call("look")],
        [Say([_sights("Forum"), text("response", "Two.")])],
        [Say([_sights("Pantheon"), text("response", "One more.")])],
    )
    async with desk(script, _tool(), slots=slots) as d:
        await d.say("Rome")
        await d.say("More")

        streamed: dict[Any, JsonObject] = {}
        buffered: dict[Any, JsonObject] = {}
        envelopes = await _envelopes(d)
        for state, parts in (
            (streamed, await d.parts("domain-data")),
            (buffered, [part for found in envelopes for part in found]),
        ):
            for part in parts:
                key, update = key_of(part["metadata"], 0), update_of(part)
                assert update is not None
                state[key] = update.of(state.get(key))
        assert [len(found) for found in envelopes] == [1, 1]
        assert streamed == buffered == {("slot", "ta.rome"): {"found": ["Trevi", "Forum", "Pantheon"]}}
        # On the page it is one card, and the later turn says where it is.
        page = await d.html()
        assert page.count("Data from Tester") == 2 and page.count("Trevi") == 1
        assert "Updated further up" in page


async def test_later_models_read_what_converged_once() -> None:
    slots = (Slot("sights", strategy="append"),)
    script = replies([Call("look")], [Say([_sights("Forum"), *DONE.parts])], [DONE])
    async with desk(script, _tool(), slots=slots) as d:
        await d.say("Rome")
        await d.say("And?")

        told = str(d.requests[-1].messages)
        assert told.count("Data shown, sights") == 1
        assert '["Trevi","Forum"]' in told
