"""What a model writes as arguments, a person reads and a tool gets are the same, or the call is refused (D64)."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from asgiref.sync import sync_to_async
from pydantic import AliasChoices, BaseModel, Field, SecretStr, field_validator

from envelopes.log.digest import call_digest
from envelopes.models import Approval
from envelopes.providers.scripted import Call, Raw, Say, text
from envelopes.registries.tools import ApprovalPolicy, Tool
from envelopes.types import Json
from tests.desk import Desk, desk, replies

pytestmark = pytest.mark.django_db(transaction=True)

DONE = [Say([text("response", "Done.")])]


class Line(BaseModel):
    sku: str = ""


class Order(BaseModel):
    command: str = ""
    amount: float = 0
    count: int = 0
    note: dict[str, Any] = {}
    lines: list[Line] = []
    sender: str = Field(default="", alias="from")


class Shop:
    """Counts what it is told."""

    def __init__(self, model: type[BaseModel] = Order, *, asks: bool = True) -> None:
        self.heard: list[Any] = []
        policy = ApprovalPolicy(question=lambda args: "Run this?") if asks else None
        self.tool = Tool("order", "Orders.", model, self.run, approval=policy, idempotent=False)

    async def run(self, context: object, args: Any) -> Json:
        self.heard.append(args)
        return "done"


async def _refusal(d: Desk) -> dict[str, Any]:
    await d.say("Order")
    (row,) = await d.rows("refused")
    assert (await d.calls(), await d.approvals()) == ([], [])
    # The model is told, and may do better.
    assert d.requests[-1].messages[-1]["content"][0]["is_error"] is True
    assert await d.texts() == ["Done."]
    error: dict[str, Any] = row.data["error"]
    assert error["message"].endswith(".")
    return error


UNKEPT: dict[str, tuple[Call | Raw, str]] = {
    "backspace": (Call("order", {"command": "rm\b\bls"}), "/command"),
    "escape": (Call("order", {"command": "\x1b[2Kls"}), "/command"),
    "NUL": (Raw('{"command": "a\\u0000b"}', "order"), "/command"),
    "C1 control": (Call("order", {"command": "a\x9bb"}), "/command"),
    "lone surrogate": (Raw('{"command": "a\\ud83d"}', "order"), "/command"),
    "noncharacter": (Call("order", {"command": "a\uffff"}), "/command"),
    "in a list": (Call("order", {"lines": [{"sku": "a"}, {"sku": "\x07"}]}), "/lines/1/sku"),
    "in a key": (Call("order", {"note": {"a": {"b\x08": 1}}}), "/note/a/b\ufffd"),
    "large integer": (Call("order", {"count": 2**53 + 1}), "/count"),
    "integer for a float": (Call("order", {"amount": 2**53 + 1}), "/amount"),
    "huge integer": (Raw('{"count": 1' + "0" * 400 + "}", "order"), "/count"),
    "float that PostgreSQL gives back as an integer": (Call("order", {"amount": 1e22}), "/amount"),
    "more digits than a double keeps": (Raw('{"amount": 12345678901234567.89}', "order"), "/amount"),
    "less than a double keeps": (Raw('{"lines": [], "amount": 1e-400}', "order"), "/amount"),
    "one key twice": (Raw('{"count": 1, "count": 2}', "order"), "/count"),
    "no number": (Raw('{"lines": [], "amount": NaN}', "order"), "/amount"),
    "more than any number": (Raw('{"amount": 1e999}', "order"), "/amount"),
    "key that nothing reads": (Call("order", {"command": "ls", "sudo": True}), "/sudo"),
    "key that nothing reads, inside": (Call("order", {"lines": [{"sku": "a", "gift": 1}]}), "/lines/0/gift"),
}


@pytest.mark.parametrize(("call", "path"), UNKEPT.values(), ids=UNKEPT)
async def test_x5_arguments_that_would_not_be_kept_as_they_are_do_not_get_as_far_as_a_question(
    call: Call | Raw, path: str
) -> None:
    shop = Shop()
    async with desk(replies([call], DONE), shop.tool) as d:
        error = await _refusal(d)
    assert error["path"] == path
    assert shop.heard == []


async def test_x5_the_refusal_names_the_character_also_where_nobody_is_asked() -> None:
    shop = Shop(asks=False)
    async with desk(replies([Call("order", {"command": "rm\bls"})], DONE), shop.tool) as d:
        error = await _refusal(d)
    assert (
        error["message"] == "The value at /command holds U+0008 (backspace), which cannot be kept or shown."
    )


HARD_TO_SEE: dict[str, Json] = {
    "command": "a\u200bb\u202ec\u00a0d\te\nf\u2028g\U0001f468\u200d\U0001f469",
    "amount": 0.30000000000000004,
    "count": 2**53 - 1,
    "note": {"\u200b": [None, True, {"-0": -0.0}], "zero\u200dwidth": "x" * 2000},
    "from": "Ada",
}


async def test_x5_what_is_only_hard_to_see_is_asked_and_run_as_it_was_written() -> None:
    shop = Shop()
    async with desk(replies([Call("order", HARD_TO_SEE)], DONE), shop.tool) as d:
        await d.say("Order")
        sent = {**HARD_TO_SEE, "lines": []}
        (request,) = await d.parts("approval-request")
        approval = await sync_to_async(Approval.objects.select_related("tool_call").get)()
        for kept in (request["data"]["args"], approval.args, approval.tool_call.args):
            assert kept == sent
        assert approval.digest == call_digest("order", sent)
        await d.decide("granted")
        assert [heard.model_dump(by_alias=True) for heard in shop.heard] == [sent]


# -- input models that would run something else than was shown -----------------------------------------------------


class Secret(BaseModel):
    pin: SecretStr


class Twice(BaseModel):
    amount: float

    @field_validator("amount")
    @classmethod
    def _taxed(cls, amount: float) -> float:
        return amount * 1.2


class OneWay(BaseModel):
    day: Annotated[str, Field(validation_alias=AliasChoices("day", "date"), serialization_alias="when")]


@pytest.mark.parametrize(
    ("model", "args"),
    [(Secret, {"pin": "1234"}), (Twice, {"amount": 100}), (OneWay, {"date": "2027-08-15"})],
)
async def test_x5_a_tool_whose_arguments_change_when_they_are_read_again_is_not_run(
    model: type[BaseModel], args: dict[str, Json]
) -> None:
    shop = Shop(model)
    async with desk(replies([Call("order", args)], DONE), shop.tool) as d:
        error = await _refusal(d)
    assert error["code"] == "tool_failed"
    assert shop.heard == []


class Folded(BaseModel):
    airport: str = Field(validation_alias=AliasChoices("airport", "code"))

    @field_validator("airport")
    @classmethod
    def _upper(cls, code: str) -> str:
        return code.strip().upper()


async def test_x5_a_tool_may_write_its_arguments_in_its_own_way_and_that_is_what_is_asked() -> None:
    shop = Shop(Folded)
    async with desk(replies([Call("order", {"code": " lis "})], DONE), shop.tool) as d:
        await d.say("Order")
        (request,) = await d.parts("approval-request")
        assert request["data"]["args"] == {"airport": "LIS"}
        await d.decide("granted")
        assert [heard.airport for heard in shop.heard] == ["LIS"]


def test_the_model_is_told_that_other_keys_are_refused() -> None:
    schema = Shop().tool.definition()["input_schema"]
    assert schema["additionalProperties"] is False
    assert schema["$defs"]["Line"]["additionalProperties"] is False
    # A dictionary takes any key.
    assert schema["properties"]["note"]["additionalProperties"] is True
