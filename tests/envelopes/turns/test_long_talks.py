"""What a model is sent has room, whatever came before, and stays the beginning of what it is sent next."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from pydantic import BaseModel

from envelopes.fakes import FakeChatApi, FakeMessagesApi, Refusal, Reply, call, respond, said
from envelopes.models import ToolCall, Turn
from envelopes.providers.anthropic import AnthropicProvider
from envelopes.providers.clients import close_clients
from envelopes.providers.estimating import tokens_of
from envelopes.providers.openai import OpenAIProvider
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Call, Conversation, Say, text
from envelopes.providers.transcript import injection_kind
from envelopes.registries.tools import ApprovalPolicy, Tool, ToolContext
from envelopes.types import Json
from tests import factories
from tests.desk import Desk, desk, replies

pytestmark = pytest.mark.django_db(transaction=True)

YES = Say([text("response", "Yes.")])


class Nothing(BaseModel):
    """A tool without arguments."""


def _tool(result: Any, name: str = "look", **more: Any) -> Tool:
    async def run(context: ToolContext, args: Nothing) -> Json:
        found: Json = result
        return found

    return Tool(name, "Looks something up.", Nothing, run, **more)


@asynccontextmanager
async def claude(api: Any, *tools: Tool) -> AsyncIterator[Desk]:
    def provider(_: Any) -> Any:
        if isinstance(api, FakeChatApi):
            return OpenAIProvider("key", "gpt-test", base_url=api.address)
        return AnthropicProvider("key", "claude-test", base_url=api.base_url)

    async with api, desk(replies([]), *tools, provider=provider) as d:
        yield d
        await close_clients()
        assert api.problems == []


def _talk(d: Desk, turns: int, characters: int) -> None:
    """So many turns, each of which said so much."""
    for number in range(turns):
        turn = factories.make_turn(d.session, text=f"Question {number}")
        turn.actor = "tester"
        turn.save()
        factories.add_part(turn, "response", text=f"Answer {number}. " + "word " * (characters // 5))
        factories.settle_turn(turn)


# -- history ----------------------------------------------------------------------------------------------------------


async def test_an_answer_keeps_what_was_read_and_written_in_it_not_what_earlier_ones_said() -> None:
    async with desk(replies([YES], [YES], [YES])) as d:
        for number in range(3):
            await d.say(f"Question {number}?")

        sent = json.dumps(d.requests[-1].messages)
        assert all(f"Question {number}?" in sent for number in range(3))
        last = await Turn.objects.aget(number=3)
        assert last.told_from == 1
        kept = json.dumps(last.messages)
        assert "Question 2?" in kept
        assert "Yes." in kept
        assert "Question 1?" not in kept
        assert injection_kind(last.messages[0]["content"][0]) == "context"


async def test_while_it_waits_an_answer_keeps_all_that_its_model_reads() -> None:
    asks = _tool({"ok": True}, "book", approval=ApprovalPolicy(question=lambda args: "Really?"))
    async with desk(replies([YES], [Call("book", {})]), asks) as d:
        await d.say("Question 0?")
        await d.say("Book it.")

        waiting = await Turn.objects.aget(number=2)
        assert waiting.status == "suspended"
        assert "Question 0?" in json.dumps(waiting.messages)


async def test_of_two_hundred_thousand_tokens_a_model_reads_what_it_has_room_for(settings: Any) -> None:
    async with desk(replies([YES])) as d:
        await sync_to_async(_talk)(d, 35, 20_000)
        await d.say("And now?")

        (request,) = d.requests
        assert tokens_of(request.messages) < settings.BEACH_HISTORY_TOKENS
        read = Conversation(request)
        assert read.text == "And now?"
        whole = [one.text for one in read.earlier if one.role == "assistant"]
        assert whole[-1].startswith("Answer 34.") and all(len(said) > 20_000 for said in whole)
        left_out = json.loads(request.messages[0]["content"][0]["text"].split(">")[1].split("<")[0])
        assert left_out["leftOut"] == 35 - len(whole)
        turn = (await d.turns())[-1]
        assert turn.told_from == 36 - len(whole)


@pytest.mark.parametrize("api", [FakeMessagesApi, FakeChatApi])
async def test_what_its_model_finds_too_long_is_sent_with_less_at_once(api: Any) -> None:
    """And what follows goes on from there."""
    fake = api(window=20_000)
    async with claude(fake) as d:
        await sync_to_async(_talk)(d, 8, 15_000)
        await d.say("And now?")
        assert await d.texts("error") == []
        sent = len(fake.requests)
        await d.say("And then?")

        assert [turn.turn_state for turn in (await d.turns())[-2:]] == ["complete", "complete"]
        assert len(fake.requests) == sent + 1, "the next one fits"
        refused = [row.data["error"]["why"] for row in await d.rows("provider") if "error" in row.data]
        assert refused and set(refused) == {"too_long"}
        (told,) = [row.data["shortened"] for row in await d.rows("provider") if "shortened" in row.data]
        assert told["toldFrom"] > 1


@pytest.mark.parametrize(
    "refusal",
    [
        Refusal(400, "invalid_request_error", "prompt is too long: 300000 tokens > 200000 maximum"),
        Refusal(413, "request_too_large", "Request exceeds the maximum size"),
    ],
)
async def test_where_nothing_is_left_to_leave_out_the_way_on_is_said_and_the_next_turn_fits(
    refusal: Refusal,
) -> None:
    answers = deque([Reply((respond(said("Before.")),)), *[refusal] * 5])
    fake = FakeMessagesApi(replies=answers)
    async with claude(fake) as d:
        await d.say("One")
        await d.say("Two")

        (told,) = await d.texts("error")
        assert told.startswith("This is too long for Claude")
        assert "Ask again: what came before is then left out. Or start a new conversation." in told
        fake.replies.clear()
        await d.say("Three")
        assert (await d.turns())[-1].turn_state == "complete"
        last = json.dumps(fake.requests[-1].body["messages"])
        assert "Three" in last and "Before." not in last and "One" not in last


async def test_what_comes_near_the_bound_is_counted_by_the_provider(settings: Any) -> None:
    settings.BEACH_REQUEST_TOKENS = 8_000
    # By its count everything is half as long as we think: nothing has to go.
    fake = FakeMessagesApi(count=lambda body: tokens_of(body["messages"]) // 2)
    async with claude(fake) as d:
        await sync_to_async(_talk)(d, 4, 8_000)
        await d.say("And now?")

        asked = [recorded.path for recorded in fake.requests]
        assert [path.endswith("count_tokens") for path in asked] == [True, False]
        assert "Answer 0" in json.dumps(fake.requests[-1].body)


async def test_a_count_that_fails_costs_no_turn(settings: Any) -> None:
    settings.BEACH_REQUEST_TOKENS = 20_000

    def broken(body: Any) -> int:
        raise ConnectionError

    async with claude(FakeMessagesApi(count=broken)) as d:
        await sync_to_async(_talk)(d, 4, 20_000)
        await d.say("And now?")

        assert (await d.turns())[-1].turn_state == "complete"


# -- results ----------------------------------------------------------------------------------------------------------


async def test_of_three_megabytes_a_model_reads_the_beginning_and_may_read_on(settings: Any) -> None:
    result = {"rows": [{"id": number, "name": "ä" * 20} for number in range(60_000)]}
    whole = json.dumps(result, ensure_ascii=False, separators=(",", ":"))
    assert len(whole) > 2_000_000 and len(whole.encode()) > 3_000_000

    def script(request: ModelRequest) -> Any:
        read = Conversation(request)
        if not (found := read.result("look")):
            return Call("look")
        if not (more := read.result("read_result")):
            return Call("read_result", {"call": found.content["call"], "start": found.content["next"]})
        if len(read.results("read_result")) == 1:
            return Call("read_result", {"call": more.content["call"], "path": "/rows/59999"})
        return YES

    async with desk(lambda request: replies([script(request)])(request), _tool(result)) as d:
        await d.say("Look")

        sizes = [len(json.dumps(request.messages, ensure_ascii=False)) for request in d.requests]
        # Two of them, and what JSON in JSON in JSON takes for its quotes.
        assert max(sizes) < 3.5 * settings.BEACH_RESULT_CHARACTERS
        first, second, third = (found.content for found in Conversation(d.requests[-1]).outcomes)
        assert first["characters"] == second["characters"] == len(whole)
        assert whole.startswith(first["json"] + second["json"])
        assert json.loads(third["json"]) == result["rows"][-1]
        kept = await ToolCall.objects.aget(name="look")
        assert kept.result == result, "whole where it is kept"


@pytest.mark.parametrize(
    "asked",
    [
        {"call": "toolu_gone"},
        {"call": "of another"},
        {"call": "$", "path": "/nowhere"},
        {"call": "$", "path": "rows"},
    ],
)
async def test_what_is_no_result_is_refused_to_whoever_reads_on(asked: Any, settings: Any) -> None:
    settings.BEACH_RESULT_CHARACTERS = 1_000

    def script(request: ModelRequest) -> Any:
        read = Conversation(request)
        if not (found := read.result("look")):
            return Call("look")
        if read.result("read_result"):
            return YES
        return Call("read_result", {**asked, "call": asked["call"].replace("$", found.call_id)})

    async with desk(lambda request: replies([script(request)])(request), _tool({"rows": "x" * 3_000})) as d:
        await d.say("Look")

        outcome = Conversation(d.requests[-1]).result("read_result")
        assert outcome is not None and outcome.is_error


async def test_results_of_a_turn_that_has_no_room_are_cut_with_their_calls_kept(settings: Any) -> None:
    settings.BEACH_REQUEST_TOKENS = 12_000
    fake = FakeMessagesApi(
        replies=deque([*[Reply((call("look"),)) for _ in range(6)], Reply((respond(said("Done.")),))])
    )
    async with claude(fake, _tool({"rows": "x" * 15_000})) as d:
        await d.say("Look six times")

        assert await d.texts() == ["Done."]
        last = [recorded for recorded in fake.requests if not recorded.path.endswith("count_tokens")][-1]
        blocks = [block for message in last.body["messages"] for block in message["content"]]
        calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        results = [block for block in blocks if block["type"] == "tool_result"]
        assert len(calls) == 6 and [block["tool_use_id"] for block in results] == calls
        sizes = [len(json.dumps(block["content"])) for block in results]
        assert sizes[-1] > 10_000 and sizes[0] < 2_000, "the oldest go first"
        assert json.loads(results[0]["content"])["call"] == calls[0]


# -- the beginning stays ----------------------------------------------------------------------------------------------


def _blocks(request: ModelRequest) -> list[str]:
    return [
        json.dumps([message["role"], block], ensure_ascii=False)
        for message in request.messages
        for block in message["content"]
    ]


CARD = {
    "metadata": {"partType": "a2ui-surface"},
    "data": {
        "version": "v0.9",
        "createSurface": {"surfaceId": "s", "catalogId": "basic", "sendDataModel": True},
        "updateDataModel": {"surfaceId": "s", "value": {"seat": "12A"}},
        "updateComponents": {
            "surfaceId": "s",
            "components": [{"id": "root", "component": "Text", "text": {"path": "/seat"}}],
        },
    },
}


async def test_over_thirty_turns_a_request_begins_as_the_one_before_it_did() -> None:
    """With calls of tools, approvals and a card between: within a turn all of it, and of the turn before, but for its
    own calls, all of it too, unless half of the turns went in one go."""
    policy = ApprovalPolicy(question=lambda args: "Really?")
    tools = (_tool({"rows": "x" * 500}), _tool({"paid": 1}, "pay", approval=policy))

    def script(request: ModelRequest) -> Any:
        read = Conversation(request)
        number = int(read.text.split()[-1])
        if not read.replies:
            if number % 3 == 1:
                return [Say([text("ack", "Looking.")], "awaiting"), Call("look")]
            if number % 3 == 2:
                return [Call("pay")]
        if number % 5 == 0:
            return [
                Say(
                    [
                        text("response", f"Answer {number}. " + "word " * 40),
                        {**CARD, "data": json.loads(json.dumps(CARD["data"]).replace('"s"', f'"s{number}"'))},
                    ]
                )
            ]
        return [Say([text("response", f"Answer {number}. " + "word " * 40)])]

    async with desk(lambda request: replies(script(request))(request), *tools) as d:
        for number in range(1, 31):
            await d.say(f"Question {number}")
            if (await d.turns())[-1].status == "suspended":
                await d.decide("granted")

        assert {turn.turn_state for turn in await d.turns()} == {"complete"}
        assert len(d.requests) == 50
        shares, cuts = [], 0
        for before, after in zip(d.requests, d.requests[1:], strict=False):
            assert (before.system, before.tools) == (after.system, after.tools)
            one, two = _blocks(before), _blocks(after)
            same = next(
                (n for n, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two))
            )
            always = len(json.dumps([before.system, before.tools], ensure_ascii=False))
            common = always + sum(map(len, one[:same]))
            shares.append(common / (always + sum(map(len, one))))
            if before.turn_id == after.turn_id:
                assert same == len(one), "within a turn nothing moves"
                continue
            # What began the turn before stands where it stood.
            opening = max(n for n, block in enumerate(one) if '<injection kind=\\"context\\"' in block)
            if same <= opening:
                cuts += 1
                continue
            assert "Question" in one[opening + 1] and same >= opening + 2
        assert cuts == 0
        print(
            f"shares: least {min(shares):.3f}, mean {sum(shares) / len(shares):.3f}"
        )  # for whoever runs it with -s
        assert sum(shares) / len(shares) > 0.9


async def test_surfaces_on_screen_are_told_with_their_data_where_they_send_it() -> None:
    hidden = json.loads(
        json.dumps(CARD).replace('"s"', '"h"').replace('"sendDataModel": true', '"sendDataModel": false')
    )
    async with desk(replies([Say([CARD, hidden])], [YES])) as d:
        await d.say("Show")
        await d.say("Change it")

        (screen,) = [
            entry.payload for entry in Conversation(d.requests[-1]).injections if entry.kind == "surfaces"
        ]
        shown = {surface["surfaceId"]: surface for surface in screen["surfaces"]}
        assert shown.keys() == {"s", "h"}
        assert shown["s"]["components"] == [{"id": "root", "component": "Text", "text": {"path": "/seat"}}]
        assert "dataModel" not in shown["h"]
        # It came with what the person wrote.
        assert Conversation(d.requests[-1]).data_model["surfaces"] == {"s": {"seat": "12A"}}
        assert "dataModel" not in shown["s"]
        # And a turn that only showed a card has said that.
        (before,) = [one.text for one in Conversation(d.requests[-1]).earlier if one.role == "assistant"]
        assert before.splitlines()[0] == '[Surface s: created, data / = {"seat":"12A"}, root (Text)]'


async def test_what_holds_only_now_is_not_told_of_earlier_turns() -> None:
    async with desk(replies([Say([CARD])], [YES])) as d:
        for words in ("Show", "Go on", "And now?"):
            await d.say(words)

        *earlier, last = d.requests[-1].messages
        kinds = [injection_kind(block) for message in earlier for block in message["content"]]
        assert kinds.count("context") == 2 and not {"surfaces", "data-model"} & set(kinds)
        assert [injection_kind(block) for block in last["content"]] == [
            "context",
            "",
            "data-model",
            "surfaces",
        ]
        assert await Turn.objects.filter(told_from=1).acount() == 3


class Cache:
    """What the API would have ready of each request (its documents, "Prompt caching"): an entry is made at each mark,
    and looked for up to twenty blocks before each."""

    def __init__(self) -> None:
        self.entries: set[str] = set()

    def share(self, body: dict[str, Any]) -> float:
        """How much of a request it reads; then it keeps what that marks."""
        written = [json.dumps(body["tools"]), *(_plain(block) for block in body["system"])]
        marks = [len(written) - 1]
        for message in body["messages"]:
            for block in message["content"]:
                written.append(f"{message['role']} {_plain(block)}")
                if "cache_control" in block:
                    marks.append(len(written) - 1)
        marks.append(len(written) - 1)
        assert len(marks) <= 4
        prefixes = ["\n".join(written[: n + 1]) for n in range(len(written))]
        near = {n for mark in marks for n in range(max(0, mark - 20), mark + 1)}
        read = max((len(prefixes[n]) for n in near if prefixes[n] in self.entries), default=0)
        self.entries |= {prefixes[mark] for mark in marks}
        return read / len(prefixes[-1])


def _plain(block: dict[str, Any]) -> str:
    return json.dumps({key: value for key, value in block.items() if key != "cache_control"})


async def test_the_cache_of_the_api_has_most_of_each_request_ready() -> None:
    """Also where what holds only now stands at the end of each turn's first request."""
    card = Reply((respond(CARD),))
    again = Reply((respond(said("It is there. " + "word " * 60)),))
    answers = [card, *[step for _ in range(10) for step in (Reply((call("look"),)), again)]]
    fake = FakeMessagesApi(replies=deque(answers))
    async with claude(fake, _tool({"rows": "x" * 400})) as d:
        for number in range(11):
            await d.say(f"Question {number}")

        bodies = [recorded.body for recorded in fake.requests]
        assert len(bodies) == 21
        assert "surfaces" in json.dumps(bodies[-1]["messages"])
        cache = Cache()
        shares = [cache.share(body) for body in bodies]
        assert shares[0] == 0
        assert min(shares[1:]) > 0.8 and sum(shares[1:]) / 20 > 0.9
        print(f"cached: least {min(shares[1:]):.3f}, mean {sum(shares[1:]) / 20:.3f}")
