"""3,000 programs made in 1.0, played by the engine and both official cores: no difference but those that are listed.

The Python core speaks the late candidate; it is among the packages of the tests. The JavaScript core speaks v0.9.1, so
the programs for it say only what that can say, and are converted. It is not among them: `BEACH_WEB_CORE` names a folder
in which somebody has run `npm install @a2ui/web_core@0.11`. `BEACH_CORES_PROGRAMS` is how many programs are made,
`BEACH_CORES_FROM` the seed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from a2ui.programs.conversion import convert
from tests.conformance.agreeing import agree, agree_on_1_0
from tests.conformance.asking import PYTHON_CORE, Oracle
from tests.conformance.making_1_0 import programs

PROGRAMS = int(os.environ.get("BEACH_CORES_PROGRAMS", "3000"))
SEED = int(os.environ.get("BEACH_CORES_FROM", "1"))
WEB_CORE = os.environ.get("BEACH_WEB_CORE", "")
EVERY = settings(
    max_examples=PROGRAMS,
    database=None,
    phases=[Phase.generate],
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture
def python_core() -> Iterator[Oracle]:
    made = Oracle([*PYTHON_CORE, "v1_0"])
    yield made
    made.close()


@pytest.fixture
def web_core() -> Iterator[Oracle]:
    if not WEB_CORE:
        pytest.skip("BEACH_WEB_CORE names no folder with the official JavaScript core")
    made = Oracle(["node", str(Path(__file__).with_name("web_core.mjs")), WEB_CORE])
    yield made
    made.close()


@seed(SEED)
@EVERY
@given(programs())
def test_the_python_core_agrees_in_the_late_candidate(python_core: Oracle, program: list[Any]) -> None:
    agree_on_1_0(python_core, program)


@seed(SEED)
@EVERY
@given(programs(newer=False))
def test_the_javascript_core_agrees_in_v0_9_1(web_core: Oracle, program: list[Any]) -> None:
    program = for_javascript(program)

    def ask(one: list[Any]) -> dict[str, Any]:
        done = convert(one, "0.9.1")
        assert done.lossless, done.notes
        return without_undefined(web_core.ask(done.messages))

    agree(ask, program, unresolved=set())


def for_javascript(program: list[Any]) -> list[Any]:
    """The program without what is known to differ there:

    - deleting what is not there makes the lists on the way, deleting by a name in a list is an error;
    - an empty list, and a text without characters, is the number 0;
    - the length of what is absent is none, even where 0 will do;
    - a call with an absent value comes to nothing, which is not even false to `not`;
    - an object shows as its class;
    - a condition that is literally false is read as none;
    - a validator has no message of its own before 1.0.
    """
    return [_alike(message) for message in program if not _differs(message)]


def _differs(message: dict[str, Any]) -> bool:
    body = message.get("updateDataModel")
    deletes = body is not None and body["value"] is None and body["path"] != "/n"
    return deletes or (body is not None and body["path"].startswith("/people/0/name/"))


def _alike(value: Any) -> Any:
    if isinstance(value, list):
        return [_alike(one) for one in value]
    if not isinstance(value, dict):
        return value
    if value.get("value") == "" and value.get("path") in ("/n", "age"):
        return {**value, "value": "Hello"}
    if value.get("condition") is False:
        return {**value, "condition": {"@call": "not", "args": {"value": True}}}
    name, args = value.get("@call"), {key: _alike(one) for key, one in value.get("args", {}).items()}
    if name in ("formatNumber", "formatCurrency", "numeric") and isinstance(args["value"], dict):
        return {**value, "args": {**args, "value": {"@path": "/n"}}}
    if name == "not" and isinstance(args["value"], dict):
        given = {"@call": "and", "args": {"values": [args["value"], True]}}
        return {**value, "args": {"value": given}}
    if name == "length":
        return {**value, "args": {**args, "value": {"@call": "formatString", "args": {"value": "${/s}"}}}}
    if name == "email":
        return {"@call": "and", "args": {"values": [{**value, "args": args}, True]}}
    return {key: _alike(one) for key, one in value.items()}


def without_undefined(value: Any) -> Any:
    """An answer with empty text where the core writes the word for what is absent."""
    if isinstance(value, list):
        return [without_undefined(one) for one in value]
    if isinstance(value, dict):
        return {key: without_undefined(one) for key, one in value.items()}
    return "" if value == "undefined" else value
