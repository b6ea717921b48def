"""What a tool gives is held to what it declares, before a model, a row or a person has it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, RootModel, field_validator

from envelopes.errors import ToolFailed
from envelopes.models import ToolCall
from envelopes.providers.scripted import Call, Say, text
from envelopes.registries.outputs import TOLD_CHARACTERS, Misfit, fitted
from envelopes.registries.policies import NoQuestion
from envelopes.registries.tools import ApprovalPolicy, Tool, ToolContext
from envelopes.runtime.executing import kept
from tests.desk import Desk, desk, replies

pytestmark = pytest.mark.django_db(transaction=True)

DONE = [Say([text("response", "Done.")])]


class Nothing(BaseModel):
    pass


class Flight(BaseModel):
    number: str
    price: Decimal = Field(ge=0)


class Found(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    day: date = Field(alias="onDay")
    flights: list[Flight]


class Anything(BaseModel):
    value: Any


class Numbers(RootModel[list[float]]):
    pass


class Secretive(BaseModel):
    value: str

    @field_validator("value")
    @classmethod
    def never(cls, value: str) -> str:
        raise KeyError(value)


class Unwritable:
    def __str__(self) -> str:
        raise RuntimeError("no words")

    __repr__ = __str__


class Trap(dict[str, Any]):
    def items(self) -> Any:
        raise RuntimeError("no items")

    values = keys = items


def giving(result: Any, **options: Any) -> Tool:
    async def run(context: ToolContext, args: Nothing) -> Any:
        return result

    return Tool(**{"name": "search", "description": "", "input": Nothing, "run": run, **options})


async def called(tool: Tool) -> tuple[ToolCall, Desk]:
    async with desk(replies([Call("search")], DONE), tool) as d:
        await d.say("go")
        assert await d.texts() == ["Done."]
        (call,) = await d.calls()
        return call, d


def numbers() -> Iterator[int]:
    yield 1


def circle() -> Any:
    round_: list[Any] = [1]
    round_.append(round_)
    return round_


def laughs() -> Any:
    """Thirty lines of code, 10^30 values."""
    heap: Any = "ha"
    for _ in range(30):
        heap = [heap] * 10
    return heap


async def test_a_result_goes_on_in_the_form_that_was_declared() -> None:
    given = {"day": date(2027, 8, 15), "flights": [Flight(number="NV 1", price=Decimal("12.50"))], "cost": 7}
    call, d = await called(giving(given, output=Found, data_kind="flights"))
    said = {"onDay": "2027-08-15", "flights": [{"number": "NV 1", "price": "12.50"}]}
    assert (call.state, call.result) == ("succeeded", said)
    (row,) = await d.rows("tool-result")
    (part,) = await d.parts("domain-data")
    assert row.data["result"] == said and part["data"] == said
    assert "cost" not in str(d.requests[-1].messages[-1]) and "2027-08-15" in str(d.requests[-1].messages[-1])


async def test_an_instance_is_written_as_what_was_declared_and_not_as_what_it_is() -> None:
    class Inner(Flight):
        margin: int = 40

    call, _ = await called(giving(Inner(number="NV 1", price=Decimal(1)), output=Flight))
    assert call.result == {"number": "NV 1", "price": "1"}
    call, _ = await called(giving((1, 2.5), output=Numbers))
    assert call.result == [1.0, 2.5]


def test_an_instance_that_was_never_checked_is_held_to_its_types() -> None:
    with pytest.raises(Misfit):
        fitted("search", Flight, Flight.model_construct(number=7, price="free"))


async def test_what_does_not_fit_is_the_fault_of_the_tool_and_is_told_to_nobody_but_staff(
    caplog: pytest.LogCaptureFixture,
) -> None:
    given = {"day": "2027-08-15", "flights": [{"number": "NV 1", "price": "sixteen-plums"}, {"price": -1}]}
    call, d = await called(giving(given, output=Found, data_kind="flights"))
    assert (call.state, call.result, call.error["code"]) == ("failed", None, "result_invalid")
    assert await d.parts("domain-data") == []
    (told,) = call.tries
    assert told["ended"] == "refused"
    assert told["error"].startswith("/flights/0/price: Input should be a valid decimal; /flights/1/number: ")
    assert "/flights/0/price" in caplog.text
    assert "What search returned is not what it declares" in str(d.requests[-1].messages[-1])
    # Neither where it went wrong nor with what.
    for where in (d.requests[-1].messages, await d.rows(), await d.html()):
        assert "plums" not in str(where) and "/flights" not in str(where)
    assert "plums" not in caplog.text


@pytest.mark.parametrize("approved", [False, True])
async def test_of_what_may_have_taken_effect_nobody_knows(approved: bool) -> None:
    policy = ApprovalPolicy(question=lambda args: "Pay?", rule=lambda asking: NoQuestion())
    tool = giving({}, output=Found, idempotent=False, approval=policy if approved else None)
    call, _ = await called(tool)
    assert (call.state, call.error["code"]) == ("unknown", "outcome_unknown")
    assert call.error["message"].endswith("Whether it took effect is not known.")
    assert call.tries[0]["ended"] == "refused"


HOSTILE: dict[str, Any] = {
    "NaN": lambda: {"value": float("nan")},
    "infinity": lambda: {"value": [float("-inf")]},
    "recursive": lambda: {"value": circle()},
    "deep": lambda: {"value": __import__("functools").reduce(lambda inner, _: [inner], range(500), 1)},
    "many": lambda: {"value": laughs()},
    "long": lambda: {"value": "x" * 5_000_000},
    "bytes": lambda: {"value": b"\xff\xfe"},
    "no words": lambda: {"value": Unwritable()},
    "key without words": lambda: {"value": {Unwritable(): 1}},
    "generator": numbers,
    "trap": Trap,
    "class": lambda: Found,
    "beyond all numbers": lambda: {"value": 10**5000},
    "none": lambda: None,
}


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
async def test_hostile_results_of_a_tool_that_declares_its_own_fail_in_one_way(make: Any) -> None:
    with pytest.raises(Misfit) as found:
        fitted("search", Anything, make())
    assert isinstance(found.value, ToolFailed) and len(found.value.found) < 500


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
async def test_hostile_results_of_one_that_declares_nothing_undo_nothing(make: Any) -> None:
    call, _ = await called(giving(make()))
    assert call.state == "succeeded"
    assert call.result is None or call.result["note"].startswith(
        "It was done, but its result cannot be shown"
    )


async def test_a_validator_that_raises_is_named_by_its_class_alone() -> None:
    with pytest.raises(Misfit) as found:
        fitted("search", Secretive, {"value": "hunter2"})
    assert found.value.found == "KeyError while it was checked."


async def test_a_limit_says_so(settings: Any) -> None:
    settings.BEACH_RESULT_KEPT_CHARACTERS = 1_000
    tool = giving(None)
    assert kept(tool, ["x" * 900]) == ["x" * 900]
    told = kept(tool, ["x" * 1_100])
    assert isinstance(told, dict) and "longer than the 1,000 characters" in str(told["note"])


class Paid(BaseModel):
    how: Literal["card"]


class Free(BaseModel):
    how: Literal["voucher"]


class Reply(BaseModel):
    stars: Literal[1, 2]
    paid: Annotated[Paid | Free, Field(discriminator="how")]
    answers: list[Reply] = []
    first: Reply | None = None


def test_the_form_of_numbers_unions_and_what_holds_itself() -> None:
    told = giving(None, output=Reply, description="").definition()["description"]
    paid = '{"how": "card"} | {"how": "voucher"}'
    assert told == f'Returns {{"stars": 1 | 2, "paid": {paid}, "answers": […], "first": … | null}}'


def test_models_read_the_form_where_it_is_short() -> None:
    told = giving(None, output=Found, description="Searches.").definition()["description"]
    assert told == ('Searches.\nReturns {"onDay": string, "flights": [{"number": string, "price": string}]}')
    wide = type("Wide", (BaseModel,), {"__annotations__": {f"field_number_{n}": int for n in range(60)}})
    assert len(str(wide.model_json_schema())) > TOLD_CHARACTERS
    assert giving(None, output=wide, description="Searches.").definition()["description"] == "Searches."
