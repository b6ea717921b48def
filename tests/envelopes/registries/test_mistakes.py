"""Mistakes of whoever writes an agent: each is refused where it is written, by a check of its own, in a sentence of its
own. The first are those with which an integrator got as far as a conversation."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Annotated, Any

import pytest
from django.core.checks import run_checks
from pydantic import BaseModel, RootModel

from a2ui import DefinitionError
from a2ui.catalog.basic import BASIC_CATALOG_1_0
from a2ui.catalog.kinds import text
from a2ui.components import BaseComponent
from a2ui.functions.registry import Function
from a2ui.schema.dynamic import Signature
from envelopes import register
from envelopes.errors import RegistrationError
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Reply, ScriptedProvider
from envelopes.registries.actors import Actor, Prompt, actors
from envelopes.registries.doors import Door, doors
from envelopes.registries.part_types import ACTOR, PartType, PartTypeRegistry
from envelopes.registries.policies import OWNER, Ask, AutoApprove, Group, Permission
from envelopes.registries.retries import Retry
from envelopes.registries.shown import Shown
from envelopes.registries.slots import Slot
from envelopes.registries.state_machines import Coordinate, StateMachine
from envelopes.registries.tools import ApprovalPolicy, Tool
from envelopes.registries.transports import Transport, TransportRegistry
from envelopes.registries.turn_states import TurnState
from envelopes.types import Json

IDS = BASIC_CATALOG_1_0.functions


class Order(BaseModel):
    item: str


class Orders(RootModel[list[str]]):
    pass


class Beside(BaseModel):
    price: Annotated[int, Shown(beside="currency")]


async def run(context: object, args: Order) -> Json:
    return {}


def plain(context: object, args: Order) -> Json:
    return {}


async def alone(args: Order) -> Json:
    return {}


async def yields(context: object, args: Order) -> Any:
    yield {}


class Callback(BaseModel):
    call: Callable[[], int]


class Lazy(BaseModel):
    deep: list[dict[str, Iterable[int]]]


RETRY = Retry((OSError,))


def script(request: ModelRequest) -> Reply:
    return Reply([])


class Unlabelled:
    name = model = "own"

    def stream(self, request: ModelRequest) -> Any: ...


class Waited:
    name = label = model = "own"

    async def stream(self, request: ModelRequest) -> Any:
        return []


def tool(**changes: Any) -> Tool:
    return Tool(**{"name": "order", "description": "Orders.", "input": Order, "run": run, **changes})


def actor(**changes: Any) -> Actor:
    given: dict[str, Any] = {
        "name": "mo",
        "display_name": "Mo",
        "role": "support",
        "instructions": "Help.",
        "provider": lambda: ScriptedProvider(script),
        "tools": (tool(),),
    }
    return Actor(**{**given, **changes})


def policy(**changes: Any) -> ApprovalPolicy:
    return ApprovalPolicy(**{"question": lambda args: "Order?", **changes})


def part(**changes: Any) -> PartType:
    given: dict[str, Any] = {"name": "acme.board", "origins": ACTOR, "streaming": "flush", "buffered": "once"}
    return PartType(**{**given, **changes})


class Banner(BaseComponent):
    name = "Banner"
    properties = {"title": text}

    def build(self, build: Any) -> None: ...


def component(**members: Any) -> Any:
    return type("Own", (Banner,), members)()


def catalog(*components: Any, **more: Any) -> Any:
    return BASIC_CATALOG_1_0.extended("https://acme.example/catalog.json", components=components, **more)


def function(name: Any = "price", evaluate: Any = lambda args, env: 1, **more: Any) -> Function:
    return Function(name, evaluate, **more)


TAKES = Signature("number", {"value": text})

LISTED: dict[str, tuple[Callable[[], object], str]] = {
    "respond": (lambda: tool(name="respond"), "'respond' is the runtime's own tool"),
    "blank in a name": (lambda: tool(name="my order"), "'my order' is not a name for a tool"),
    "two of one name": (lambda: actor(tools=(tool(), tool())), "has two tools called 'order'"),
    "forgotten comma": (lambda: actor(tools=tool()), "`tools` of the actor 'mo' is one Tool, not a tuple"),
    "dict for a model": (lambda: tool(input={"item": "str"}), "is a pydantic model, a class, not {'item'"),
    "approval=True": (lambda: tool(approval=True), "is an ApprovalPolicy or None, not True"),
    "required of two": (lambda: policy(required=lambda args, user: True), "required is called with args: missing"),
    "provider instance": (
        lambda: actor(provider=ScriptedProvider(script)),
        "`provider` of the actor 'mo' is called for each turn: it is a function that gives a model",
    ),
    "provider without label": (lambda: actor(provider=Unlabelled), "is Unlabelled, which has no `label`"),
    "flsh": (lambda: part(streaming="flsh"), "`streaming` of the part type 'acme.board' is 'flsh', which is none"),
    "actr": (lambda: part(origins=frozenset({"actr"})), "Nobody is called 'actr' who could emit"),
    "duplicate component": (lambda: catalog(Banner(), Banner()), "Two components of one catalog are called 'Banner'"),
    "component that shadows": (lambda: catalog(component(name="Text")), "one that takes its place derives from Text"),
    "class for a component": (lambda: catalog(Banner), "Banner is a class: a catalog has components, Banner()"),
    "function that shadows": (
        lambda: IDS.extend(function("formatString")),
        "There is a function 'formatString' already; `replacing` names",
    ),
}  # fmt: skip

FURTHER: dict[str, tuple[Callable[[], object], str]] = {
    "run of one": (lambda: tool(run=alone), "`run` of the tool 'order' is called with (context, args): too many"),
    "run that is none": (lambda: tool(run="order"), "`run` of the tool 'order' is a function, not 'order'"),
    "root model": (lambda: tool(input=Orders), "is an object with fields; Orders is a RootModel"),
    "beside nothing": (lambda: tool(input=Beside), "stands beside 'currency', which is no field of it"),
    "time in words": (lambda: tool(timeout="soon"), "timeout is a number of seconds or None, not 'soon'"),
    "no time": (lambda: tool(timeout=-1), "timeout has to be more than 0 seconds"),
    "flag in words": (lambda: tool(idempotent="no"), "`idempotent` of the tool 'order' is True or False, not 'no'"),
    "run that yields": (lambda: tool(run=yields), "`run` of the tool 'order' returns its result once"),
    "output in words": (lambda: tool(output="Order"), "`output` of the tool 'order' is a pydantic model, a class"),
    "output without JSON": (lambda: tool(output=Callback), "Callback, cannot be written as JSON"),
    "output that is read once": (lambda: tool(output=Lazy), "Lazy of the tool 'order' has a field that is read only"),
    "one tag": (lambda: tool(tags="crm"), "Tags of the tool 'order' are a tuple of words, not 'crm'"),
    "tag with a blank": (lambda: tool(tags=("our crm",)), "'our crm' of the tool 'order' is no tag"),
    "tag twice": (lambda: tool(tags=("crm", "crm")), "A tag of the tool 'order' is there twice"),
    "retry in numbers": (lambda: tool(retry=3), "`retry` of the tool 'order' is a Retry, not 3"),
    "retry of what is not idempotent": (
        lambda: tool(retry=RETRY, idempotent=False),
        "'order' is not idempotent: after a failure it may have taken effect",
    ),
    "retry of what is approved": (
        lambda: tool(retry=RETRY, approval=policy()),
        "'order' asks for approval: it is tried again only where it says",
    ),
    "retry on one": (lambda: Retry(OSError), "`on` of a retry is a tuple of exceptions"),  # type: ignore[arg-type]
    "retry on a word": (lambda: Retry(("timeout",)), "'timeout' in `on` of a retry is no class"),  # type: ignore[arg-type]
    "retry on all": (lambda: Retry((Exception,)), "names what passes by itself: Exception is every fault"),
    "retry for ever": (lambda: Retry((OSError,), times=1000), "`times` of a retry is 1 to 10, not 1000"),
    "retry tomorrow": (lambda: Retry((OSError,), wait=86_400), "`wait` of a retry is 0 to 60 seconds, not 86400"),
    "polled with approval": (lambda: tool(polled=True, approval=policy()), "may be polled, so it needs no approval"),
    "answers with approval": (lambda: tool(answers="f", approval=policy()), "answers interfaces, so it needs no"),
    "function for a tool": (lambda: actor(tools=(run,)), "in `tools` of the actor 'mo' is no Tool"),
    "set of tools": (lambda: actor(tools={"order"}), "`tools` of the actor 'mo' is a tuple, not {'order'}"),
    "registered a class": (lambda: register(Actor), "Register one of Actor, Catalog, Door"),  # type: ignore[arg-type]
    "no instructions": (lambda: actor(instructions=None), "`instructions` of the actor 'mo' is a text, not None"),
    "invisible name": (lambda: actor(display_name="\u200b"), "is not what people can call an actor"),
    "provider of one": (lambda: actor(provider=script), "`provider` of the actor 'mo' is called with nothing"),
    "provider that does not stream": (
        lambda: actor(provider=Waited),
        "`stream` of Waited, `provider` of the actor 'mo', has to be an async generator",
    ),
    "async provider": (lambda: actor(provider=run), "gives a model at once, so it cannot be async"),
    "no turn": (lambda: actor(turn_seconds=0), "A turn of 'mo' needs some time"),
    "two that answer": (
        lambda: actor(tools=(tool(answers="f"), tool(name="other", answers="f"))),
        "Two tools of 'mo' answer one function",
    ),
    "two slots": (lambda: actor(slots=(Slot("a"), Slot("a"))), "has two slots for data of the kind 'a'"),
    "two strategies": (
        lambda: actor(slots=(Slot("a", "k"), Slot("b", "k", "append"))),
        "has two strategies for the slot 'k'",
    ),
    "empty prompt": (lambda: Prompt("Order", "", " "), "The prompt 'Order' sends nothing"),
    "question in words": (lambda: policy(question="Order?"), "question is a function of args, not 'Order?'"),
    "async question": (lambda: policy(question=run), "question answers at once: it cannot be async"),
    "unknown risk": (lambda: policy(risk="huge"), "'huge' is none of low, medium, high"),
    "one peer": (lambda: policy(peers="desk"), "The peers of a policy are a list of names"),
    "peer that is none": (lambda: policy(peers=[7]), "The peers of a policy are names; 7 is none"),
    "asked again never": (
        lambda: policy(rule=Ask(on_expiry="ask-again"), expires_after=None),
        "What never expires is never asked again",
    ),
    "nobody decides": (lambda: Ask(deciders=OWNER), "Name who may decide: a list of OWNER"),  # type: ignore[arg-type]
    "decider in words": (lambda: Ask(deciders=["staff"]), "'staff' is neither OWNER"),  # type: ignore[list-item]
    "none needed": (lambda: Ask(needed=0), "0 people cannot be needed"),
    "owner alone twice": (lambda: Ask([OWNER], needed=2), "The owner alone is one person"),
    "unknown expiry": (lambda: Ask(on_expiry="never"), "'never' is none of deny"),  # type: ignore[arg-type]
    "login in words": (lambda: Ask(login="high"), "login is True or False, not 'high'"),  # type: ignore[arg-type]
    "permission without an app": (lambda: Permission("delete"), "'delete' is no permission"),
    "group without a name": (lambda: Group(" "), "' ' is no name of a group"),
    "rule with blanks": (lambda: AutoApprove("small sums"), "'small sums' is no name for a rule"),
    "one origin": (lambda: part(origins="actor"), "`origins` of the part type 'acme.board' is one text"),
    "no origin": (lambda: part(origins=frozenset()), "Nobody may emit the part type 'acme.board'"),
    "unknown presence": (lambda: part(text="maybe"), "`text` of the part type 'acme.board' is 'maybe'"),
    "model in words": (lambda: part(data="required", data_model="Order"), "`data_model` of the part type"),
    "model without data": (lambda: part(data_model=Order), "has a `data_model` and no data"),
    "module that is no script": (lambda: part(module="board.css"), "The module 'board.css' of the part type"),
    "no prefix": (lambda: PartTypeRegistry("part type").register(part(name="board")), "needs a prefix of its own"),
    "turn that is passed and kept": (lambda: TurnState("s", True, True, True, passes=True), "passes its turn on"),
    "state that is not there": (
        lambda: StateMachine("cart", {"s": Coordinate("open", {"open": ("paid",)})}),
        "The coordinate cart.s goes to paid, which is no state of it",
    ),
    "state without a comma": (
        lambda: StateMachine("cart", {"s": Coordinate("open", {"open": "paid", "paid": ()})}),  # type: ignore[dict-item]
        "What may follow in cart.s is one text, 'paid', not a tuple",
    ),
    "unknown strategy": (lambda: Slot("a", strategy="add"), "'add' is no way in which data comes together"),  # type: ignore[arg-type]
    "reserved slot": (lambda: Slot("beach:a"), "'beach:a' of a slot is the runtime's"),
    "unknown class": (
        lambda: TransportRegistry("transport").register(Transport("acme.pager", "streamin")),  # type: ignore[arg-type]
        "The transport 'acme.pager' is 'streamin'",
    ),
    "unknown capability": (
        lambda: TransportRegistry("transport").register(
            Transport("acme.pager", "streaming", capabilities=frozenset({"pictures"}))
        ),
        "names unknown capabilities: pictures",
    ),
    "too late": (lambda: doors.register(Door("acme.late", "late")), "comes too late"),
    "component without a name": (lambda: catalog(component(name="My Banner")), "is called 'My Banner', which no"),
    "property of all": (lambda: catalog(component(properties={"id": text})), "has the property 'id', which every"),
    "property in words": (lambda: catalog(component(properties={"title": "text"})), "of Banner is no kind"),
    "required in words": (lambda: catalog(component(required="title")), "`required` of Banner is one text"),
    "slots in words": (lambda: catalog(component(slots="title")), "`slots` of Banner is one text"),
    "required and unknown": (lambda: catalog(component(required=frozenset({"head"}))), "Banner needs 'head'"),
    "slot and unknown": (lambda: catalog(component(slots=("body",))), "Banner has components in 'body'"),
    "functions in a list": (lambda: catalog(functions=[function()]), "are a FunctionRegistry, not [Function("),
    "unknown protocol": (lambda: catalog(protocol="2.0"), 'A catalog is made for "0.9", "1.0" or both'),
    "function with a blank": (lambda: function("the price"), "'the price' is no name of a function"),
    "function of one": (lambda: function(evaluate=lambda args: 1), "'price' is called with (args, env)"),
    "async function": (lambda: function(evaluate=run), "'price' answers while a surface is drawn"),
    "function that is none": (lambda: function(evaluate=1), "'price' has nothing to call"),
    "unknown caller": (lambda: function(callers="anybody"), "'price' may be called by 'anybody'"),
    "literal in words": (lambda: function(literal_args="value"), "`literal_args` of 'price' is one text"),
    "literal and unknown": (
        lambda: function(literal_args=frozenset({"sum"}), signature=TAKES),
        "'price' has a literal argument 'sum', which its signature does not have",
    ),
}  # fmt: skip


class Waits:
    async def __call__(self, args: Order) -> str:
        return ""


OPEN = Coordinate("open", {"open": ()})

SHAPES: dict[str, tuple[Callable[[], object], str]] = {
    "answers": (lambda: tool(answers=["f"]), "`answers` of the tool 'order' is a text, not ['f']"),
    "kind of data": (lambda: tool(data_kind=7), "7 of the tool 'order' does not name data"),
    "long kind of data": (lambda: tool(data_kind="x" * 129), "does not name data: it has up to 128 characters"),
    "hidden kind of data": (lambda: tool(data_kind="a\x00b"), "does not name data"),
    "reserved data": (lambda: tool(data_kind="beach:x"), "'beach:x' of the tool 'order' is the runtime's"),
    "blank kind of data": (lambda: tool(data_kind=" "), "The name of the data of the tool 'order' can be read"),
    "one catalog": (lambda: actor(catalogs="https://a.example"), "`catalogs` of the actor 'mo' is one str, not a"),
    "contract": (lambda: actor(contract=[1]), "`contract` of the actor 'mo' is an object, not [1]"),
    "object to await": (lambda: actor(instructions=Waits()), "instructions answers at once: it cannot be async"),
    "question to await": (lambda: policy(question=Waits()), "question answers at once: it cannot be async"),
    "note": (lambda: policy(risk_note=3), "`risk_note` of an approval policy is a text, not 3"),
    "class for a rule": (lambda: policy(rule=Ask), "The rule of a policy is Ask(...), not the class itself"),
    "no time to decide": (lambda: policy(expires_after=0), "expires_after has to be more than 0 seconds"),
    "less than no time": (lambda: Ask(expires_after=-5), "expires_after has to be more than 0 seconds"),
    "four eyes in words": (lambda: Ask(four_eyes="no"), "`four_eyes` of a question is True or False, not 'no'"),  # type: ignore[arg-type]
    "label of a rule": (lambda: AutoApprove("small", 3), "`label` of the rule 'small' is a text, not 3"),  # type: ignore[arg-type]
    "kind of a slot": (lambda: Slot(3), "3 of a slot does not name data"),  # type: ignore[arg-type]
    "flag of a slot": (lambda: Slot("a", own_card="no"), "`own_card` of a slot is True or False, not 'no'"),  # type: ignore[arg-type]
    "origins": (lambda: part(origins=7), "`origins` of the part type 'acme.board' is a set of names, not 7"),
    "numbers for names": (lambda: part(replaces=[7]), "7 in `replaces` of the part type 'acme.board' is no name"),
    "flag of a part": (lambda: part(streams_text="no"), "`streams_text` of the part type 'acme.board' is True or"),
    "description": (lambda: part(description=3), "`description` of the part type 'acme.board' is a text, not 3"),
    "what is retold": (lambda: part(retold="It."), "`retold` of the part type 'acme.board' is a function of part"),
    "offered to all": (lambda: part(offered=True), "`offered` of the part type 'acme.board' is a function of actor"),
    "schema": (lambda: part(data_schema={}), "`data_schema` of the part type 'acme.board' is a function of nothing"),
    "example": (lambda: part(example={"item": "lamp"}), "is a part without its partType, such as {'data': {...}}"),
    "example of another model": (
        lambda: part(data="required", data_model=Order, example={"data": {"item": 7}}),
        "The data of `example` of the part type 'acme.board' is no Order: /item: Input should be a valid string",
    ),
    "coordinates in a list": (lambda: StateMachine("cart", [OPEN]), "has a Coordinate under each name, not ["),  # type: ignore[arg-type]
    "no coordinates": (lambda: StateMachine("cart", {}), "has a Coordinate under each name, not {}"),
    "coordinate as JSON": (
        lambda: StateMachine("cart", {"s": {"initial": "open"}}),  # type: ignore[dict-item]
        "cart.s is a Coordinate(initial, transitions), not {'initial': 'open'}",
    ),
    "nothing to follow": (
        lambda: StateMachine("cart", {"s": Coordinate("open", {"open": None})}),  # type: ignore[dict-item]
        "`transitions` of cart.s is a tuple, not None",
    ),
    "who may move it": (
        lambda: StateMachine("cart", {"s": OPEN}, "no"),  # type: ignore[arg-type]
        "`allow_handler_transitions` of the state machine 'cart' is True or False",
    ),
    "terminal in words": (lambda: TurnState("s", "no", True, False), "`terminal` of the turn state 's' is True or"),  # type: ignore[arg-type]
}  # fmt: skip
"""Values of another kind than is asked for, by the checks that all definitions share."""

ALL = LISTED | FURTHER


def refused(mistake: Callable[[], object]) -> RegistrationError | DefinitionError:
    with pytest.raises((RegistrationError, DefinitionError)) as found:
        mistake()
    return found.value


@pytest.mark.parametrize(("mistake", "told"), ALL.values(), ids=ALL)
def test_a_mistake_is_refused_where_it_is_written(mistake: Callable[[], object], told: str) -> None:
    assert told in refused(mistake).message


@pytest.mark.parametrize(("mistake", "told"), SHAPES.values(), ids=SHAPES)
def test_a_value_of_another_kind_is_refused_where_it_is_written(
    mistake: Callable[[], object], told: str
) -> None:
    assert told in refused(mistake).message


def test_each_is_refused_by_a_check_of_its_own() -> None:
    """No two at one line of ours: a check that took several would have one sentence for all of them."""
    found: dict[tuple[str, int], list[str]] = {}
    for name, (mistake, _) in ALL.items():
        last = traceback.extract_tb(refused(mistake).__traceback__)[-1]
        found.setdefault((last.filename, last.lineno or 0), []).append(name)

    assert [names for names in found.values() if len(names) > 1] == []
    assert len(found) >= len(LISTED) + 20


def test_what_is_right_is_taken() -> None:
    """The definitions that the mistakes change one thing about."""
    # A plain function is run in a thread.
    tool(run=plain)
    tool(retry=RETRY, tags=("crm", "read-only"), output=Orders)
    tool(retry=RETRY, approval=policy(), idempotent=True)
    actor(tools=(tool(approval=policy()),), slots=(Slot("a"),), prompts=(Prompt("Order", "", "Order"),))
    part()
    assert part(origins=["actor"], allowed_transports=["panel"]) == part(
        origins=frozenset({"actor"}), allowed_transports=frozenset({"panel"})
    )
    # It says nothing of what it takes.
    tool(run=max)
    assert "Banner" in catalog(Banner(), functions=IDS.extend(function())).components


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("BEACH_DEFAULT_ACTOR", "nobody", "BEACH_DEFAULT_ACTOR is 'nobody', but no actor is called so."),
        ("BEACH_MAX_STEP", 3, "BEACH_MAX_STEP is no setting of Beach, so nothing reads it."),
    ],
)
def test_a_mistake_in_a_setting_is_told_by_the_checks(
    name: str, value: object, told: str, settings: Any
) -> None:
    assert told not in [found.msg for found in run_checks()]
    setattr(settings, name, value)
    assert told in [found.msg for found in run_checks()]


def test_a_tool_that_no_model_would_choose_is_told_by_the_checks() -> None:
    with actors.including(replace(actors["sally"], tools=(tool(description=" "),))):
        assert "envelopes.W005" in [found.id for found in run_checks()]
