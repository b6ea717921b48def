"""Programs whose interfaces call functions of an agent: a catalog with some, and random programs that use them."""

from __future__ import annotations

from random import Random
from typing import Any

from a2ui import CallsDue, Engine, EngineOptions, Limits, SurfaceSet
from a2ui.catalog.basic import BASIC_CATALOG_1_0
from a2ui.catalog.registry import Catalog
from a2ui.functions.registry import Env, Function, agent_function
from a2ui.schema.dynamic import Signature, dynamic_value

SHOP = "https://example.com/catalogs/shop"


def total(args: Any, env: Env) -> Any:
    return sum(args["prices"])


def broken(args: Any, env: Env) -> Any:
    raise RuntimeError("out of order")


SIGNATURE = Signature("string", {}, {"q": dynamic_value, "at": dynamic_value})

CATALOG: Catalog = BASIC_CATALOG_1_0.extended(
    SHOP,
    functions=BASIC_CATALOG_1_0.functions.extend(
        agent_function("ask", SIGNATURE),
        agent_function("judge", Signature("validationResult", {"q": dynamic_value})),
        Function("total", total, callers="rendererOrAgent"),
        Function("sync", lambda args, env: None, callers="agentOnly"),
        Function("click", lambda args, env: None, callers="rendererOrAgent", effect=True),
        Function("broken", broken, callers="rendererOrAgent"),
        Function("endless", lambda args, env: float("inf")),
    ),
)


def engine(**limits: int) -> Engine:
    return Engine(EngineOptions(catalogs=(CATALOG, BASIC_CATALOG_1_0), limits=Limits(**limits)))


def ask(**args: Any) -> dict[str, Any]:
    return {"@call": "ask", "args": args}


def path(name: str) -> dict[str, str]:
    return {"@path": name}


def message(verb: str, surface: str = "s", version: str = "1.0", **body: Any) -> dict[str, Any]:
    return {"version": version, verb: {"surfaceId": surface, **body}}


def create(*rows: dict[str, Any], model: Any = None, surface: str = "s", **more: Any) -> dict[str, Any]:
    data = {} if model is None else {"dataModel": model}
    return message("createSurface", surface, **{"catalogId": SHOP, "components": [*rows], **data, **more})


def response(call_id: str, version: str = "1.0", **body: Any) -> dict[str, Any]:
    return {"version": version, "agentFunctionResponse": {"functionCallId": call_id, **body}}


def made(surfaces: SurfaceSet) -> list[CallsDue]:
    """What whoever appends rows does after each: asks what is due, and makes those calls."""
    surfaces.flush()
    due = surfaces.calls.due()
    for one in due:
        surfaces.calls.make(one)
    return due


def asked(due: list[CallsDue]) -> list[Any]:
    """The arguments of the calls."""
    return [message["callAgentFunction"]["callFunction"]["args"] for one in due for message in one.messages]


# -- at random --------------------------------------------------------------------------------------------------------


def of_1_0(random: Random, step: Any) -> Any:
    """A step of `tests.a2ui.chaos` as a message of 1.0 in which some values are asked of the agent."""
    if isinstance(step, list):
        return step
    ((verb, body),) = [(key, value) for key, value in step.items() if key != "version"]
    if verb == "updateComponents":
        body = {**body, "components": [_component(random, one) for one in body["components"]]}
    return {"version": "1.0", verb: body}


def _component(random: Random, row: dict[str, Any]) -> dict[str, Any]:
    found = {}
    for key, value in row.items():
        if key in {"checks", "accessibility"}:
            found[f"@{key}"] = _value(random, value)
        elif key == "children":
            found[key] = value
        elif key == "action":
            context = {"c": ask(q=path("/t"))} if random.random() < 0.3 else {}
            found[key] = {"event": {"name": "a", "context": context}}
        else:
            found[key] = _value(random, value, bound=key == "value")
    return found


def _value(random: Random, value: Any, *, bound: bool = False) -> Any:
    if isinstance(value, list):
        return [_value(random, item) for item in value]
    if not isinstance(value, dict):
        return value
    if "path" in value or "call" in value:
        marked = {"@call": value["call"]} if "call" in value else {"@path": value["path"]}
        if "args" in value:
            marked["args"] = {key: _value(random, item, bound=True) for key, item in value["args"].items()}
        return marked if bound else _asked(random, marked)
    return {
        key: _value(random, item, bound=key == "condition" and random.random() < 0.5)
        for key, item in value.items()
    }


def _asked(random: Random, value: Any) -> Any:
    chance = random.random()
    if chance < 0.25:
        return ask(q=value)
    if chance < 0.35:
        return {
            "@call": "formatString",
            "args": {"value": random.choice(["a ${ask(q: n)}", "${ask(q: /t)} ${n}"])},
        }
    if chance < 0.4:
        return ask(q=ask(q=value))
    if chance < 0.45:
        return ask(at={"@call": "@index"}, q=[value, "x"])
    return value


def answers(random: Random, surfaces: SurfaceSet) -> list[dict[str, Any]]:
    """Answers to some of the pending calls."""
    pending = [*surfaces.calls.pending()]
    return [
        response(call_id, value=random.choice(["yes", "*no*", 3, None, {"valid": False}, True]))
        if random.random() < 0.8
        else response(call_id, error={"code": "TIMEOUT", "message": "late"})
        for call_id in random.sample(pending, random.randrange(len(pending) + 1))
    ]
