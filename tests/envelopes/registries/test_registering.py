"""Applications register in their ``beach.py``, once, at start-up; whoever clashes hears of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from a2ui.catalog.basic import BASIC_CATALOG_1_0
from envelopes.checks import registered as checks
from envelopes.errors import RegistrationError
from envelopes.registries.actors import actors
from envelopes.registries.base import Registry
from envelopes.registries.catalogs import CatalogRegistry
from envelopes.registries.catalogue import REGISTRIES
from envelopes.registries.part_types import PartType, PartTypeRegistry, part_types
from envelopes.registries.state_machines import Coordinate, StateMachine, state_machines
from envelopes.registries.turn_states import TurnState, TurnStateRegistry

CART = StateMachine("cart", {"status": Coordinate("open", {"open": ("paid",), "paid": ()})})
BOARD = PartType("acme.board", frozenset({"actor"}), "flush", "drop", data="required")


def elsewhere(register: Callable[[Any], Any], item: object) -> None:
    """Registers from a module of another name."""
    exec("register(item)", {"__name__": "other.beach", "register": register, "item": item})  # noqa: S102


def test_a_clash_names_the_module_and_the_line_of_both() -> None:
    registry = PartTypeRegistry("part type")
    registry.register(BOARD)
    with pytest.raises(RegistrationError) as refused:
        elsewhere(registry.register, replace(BOARD, name="acme.Board"))

    place = registry.place("acme.board")
    assert place.module == __name__
    assert str(refused.value) == (
        f"The part type 'acme.Board' (other.beach, line 1) is registered already ({__name__}, line {place.line})."
    )


def test_what_is_there_for_a_block_is_from_where_the_block_is_and_leaves_what_was() -> None:
    before = actors.place("sally")
    with actors.including(replace(actors["sally"], greeting="Hello")):
        assert actors.place("sally").module == __name__

    assert actors.place("sally") == before


def test_what_is_there_for_a_block_leaves_the_order_in_which_others_are() -> None:
    """The first of the actors is the one of new conversations."""
    before = actors.names()
    with actors.including(replace(actors[before[0]], greeting="Hello")):
        assert actors.names() == before

    assert actors.names() == before


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.kind)
def test_nothing_is_registered_once_the_applications_are_loaded(registry: Registry[Any]) -> None:
    first = next(iter(registry), CART)
    item = replace(first, name="late" if first is CART else "acme.late")
    with pytest.raises(RegistrationError, match=r"comes too late \(tests\..*beach\.py.*INSTALLED_APPS"):
        registry.register(item)

    assert item.name not in registry


def test_the_demo_registers_in_its_beach_module() -> None:
    assert actors.place("sally").module == "beachsite.demo.beach"


SHAPES: dict[str, Mapping[str, object]] = {
    "deliveryRules": {
        "partType": "ta.slot-state",
        "deliveryRules": {"streaming": "flush", "buffered": "drop"},
        "allowedTransports": ["sse", "a2a"],
        "requiresPeerConsumes": True,
    },
    "meta": {
        "id": "ta.slot-state",
        "isCanonical": False,
        "meta": {"streamingPreferred": True, "buffered": "dropped", "serialisation": "base64"},
        "allowedTransports": ["sse", "a2a"],
        "requiresPeerConsumes": True,
    },
    "flat": {
        "partType": "ta.slot-state",
        "streaming": "flush",
        "buffered": "drop",
        "allowedTransports": ["a2a", "sse"],
        "requiresPeerConsumes": True,
    },
}


@pytest.mark.parametrize("given", SHAPES.values(), ids=SHAPES)
def test_every_shape_of_the_sources_registers_the_same_part_type(given: Mapping[str, object]) -> None:
    assert PartTypeRegistry("part type").register(given) == PartType(
        "ta.slot-state",
        frozenset({"actor", "runtime"}),
        "flush",
        "drop",
        data="optional",
        allowed_transports=frozenset({"sse", "a2a"}),
        requires_peer_consumes=True,
    )


def test_what_models_read_may_stand_beside_the_words_of_the_sources() -> None:
    example = {"data": {"slot": 1}}
    given = {**SHAPES["meta"], "description": "one slot", "example": example}

    kind = PartTypeRegistry("part type").register(given)

    assert (kind.description, kind.example) == ("one slot", example)


def test_what_does_not_prefer_to_stream_comes_whole() -> None:
    given = {"id": "acme.audio", "meta": {"streamingPreferred": False, "buffered": "once"}}

    kind = PartTypeRegistry("part type").register(given)

    assert (kind.streaming, kind.buffered) == ("once", "once")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"deliveryRules": {"streaming": "flush"}}, r"deliveryRules\.buffered: Field required"),
        ({"deliveryRules": {"streaming": "sometimes", "buffered": "drop"}}, r"deliveryRules\.streaming"),
        ({"streaming": "flush"}, "streaming: Extra inputs"),
        ({"meta": {"streamingPreferred": True, "buffered": "drop"}}, "meta: Extra inputs"),
        ({"isCanonical": True}, "isCanonical"),
        ({"requiresPeerConsume": True}, "requiresPeerConsume: Extra inputs"),
        ({"partType": "slot-state"}, "needs a prefix of its own"),
        ({"partType": None}, "partType"),
    ],
)
def test_a_mapping_that_says_anything_else_is_refused(change: Mapping[str, object], told: str) -> None:
    registry = PartTypeRegistry("part type")
    with pytest.raises(RegistrationError, match=told):
        registry.register({**SHAPES["deliveryRules"], **change})

    assert registry.names() == ()


@pytest.mark.parametrize("key", ["id", "turnState"])
def test_a_turn_state_is_taken_in_the_words_of_the_source(key: str) -> None:
    registry = TurnStateRegistry("turn state")
    given = {key: "acme.review", "isTerminal": False, "emitsEnvelope": False, "holdsActor": True}

    assert registry.register(given) == TurnState("acme.review", False, False, True)
    with pytest.raises(RegistrationError, match="holdsActor"):
        registry.register({**given, key: "acme.other", "holdsActor": "perhaps"})


def test_a_name_without_a_prefix_that_was_let_in_is_warned_of() -> None:
    assert checks.part_type_names(None) == []
    with part_types.including(replace(BOARD, name="board")):
        (warning,) = checks.part_type_names(None)

    assert (warning.id, warning.is_serious(), "'board'" in warning.msg) == ("envelopes.W001", False, True)
    assert __name__ in warning.msg


def test_a_transport_that_nobody_can_mean_is_an_error() -> None:
    assert checks.allowed_transports(None) == []
    misspelt = frozenset({"sse", "pannel"})
    with part_types.including(replace(BOARD, allowed_transports=misspelt)):
        (error,) = checks.allowed_transports(None)

    assert error.id == "envelopes.E001"
    assert "pannel" in error.msg and "sse" not in error.msg and "panel" in str(error.hint)


def test_a_default_actor_that_is_not_there_is_an_error(settings: Any) -> None:
    assert checks.default_actor(None) == []
    settings.BEACH_DEFAULT_ACTOR = "mo"
    (error,) = checks.default_actor(None)

    assert error.id == "envelopes.E002"
    assert "'mo'" in error.msg and "sally" in str(error.hint)


def test_the_command_prints_all_of_it_and_where_it_came_from() -> None:
    out = StringIO()
    board = replace(
        BOARD,
        allowed_transports=frozenset({"sse", "a2a"}),
        requires_peer_consumes=True,
        description="what stands where",
    )
    with part_types.including(board), state_machines.including(CART):
        call_command("beach", "registries", stdout=out, no_color=True)
    lines = [" ".join(line.split()) for line in out.getvalue().splitlines()]

    assert any(line.startswith(f"cart status; changed by code alone {__name__}, line ") for line in lines)
    told = [line for line in lines if line.startswith("acme.board ")]

    assert len(told) == 1
    assert told[0].startswith(
        "acme.board what stands where: streaming flush, buffered drop, only a2a sse, only to who asks"
    )
    assert f"{__name__}, line " in told[0]
    for registry in REGISTRIES:
        for name in registry.names():
            assert any(line.startswith(f"{name} ") and ", line " in line for line in lines)


def test_two_catalogs_of_one_id_are_refused_with_both_places() -> None:
    registry = CatalogRegistry("catalog")
    shop = BASIC_CATALOG_1_0.extended("https://shop.example/catalogs/goods")

    assert registry.register_catalog(shop) is shop
    with pytest.raises(
        RegistrationError, match=rf"{__name__}, line \d+\) is registered already \({__name__}"
    ):
        registry.register_catalog(BASIC_CATALOG_1_0.extended("https://shop.example/catalogs/goods"))
    with pytest.raises(RegistrationError, match="is not a name"):
        registry.register_catalog(BASIC_CATALOG_1_0.extended("shop goods"))
