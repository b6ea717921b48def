"""Everything that an agent is told, held against the official schema of what renderers send, in each version."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from a2ui import ActionError, ClientAction, Diagnostic, Engine, SurfaceSet
from a2ui.gallery import samples
from a2ui.programs.conversion import convert
from a2ui.programs.reading import read_program
from a2ui.protocol import answers
from a2ui.protocol.adapters import outgoing
from a2ui.protocol.dialects import CANDIDATE, V0_9, V0_9_1, V1_0
from tests.a2ui.strategies import FUZZ
from tests.conformance.making import broken
from tests.conformance.making_1_0 import lowered, programs
from tests.conformance.schemas import validator
from tests.shared import needs_shared

pytestmark = needs_shared

SCHEMAS = {
    V1_0.version: ("v1_0/derived_1.0", "renderer_to_agent", "renderer_data_model", "renderer_capabilities"),
    CANDIDATE.version: ("v1_0", "renderer_to_agent", "renderer_data_model", "renderer_capabilities"),
    V0_9_1.version: ("v0_9_1", "client_to_server", "client_data_model", "client_capabilities"),
    V0_9.version: ("v0_9", "client_to_server", "client_data_model", "client_capabilities"),
}
"""Folder of each version, and its schemas of messages, data models and capabilities."""
MESSAGES, MODELS, CAPABILITIES = 1, 2, 3
NAMES = {
    True: ("a2uiRendererDataModel", "a2uiRendererCapabilities"),
    False: ("a2uiClientDataModel", "a2uiClientCapabilities"),
}


def wrong(version: str, which: int, value: Any) -> list[str]:
    """What the schema has against it; nothing that is no JSON gets there."""
    folder = SCHEMAS[version][0]
    check = validator(f"{SCHEMAS[version][which]}.json", version=folder)
    return [error.message for error in check.iter_errors(json.loads(json.dumps(value)))]


def said_in(version: str, program: list[Any]) -> list[Any]:
    """A program of 1.0 in the words of a version."""
    if version == V1_0.version:
        return program
    if version == CANDIDATE.version:
        return lowered(program)
    return [
        {**message, "version": version} if "version" in message else message
        for message in convert(program, "0.9.1").messages
    ]


def told(surfaces: SurfaceSet, program: list[Any]) -> list[Diagnostic]:
    """Every problem of a program, those of drawing too."""
    found: list[Diagnostic] = []
    for message in program:
        found += surfaces.apply(message)
        surfaces.flush()
        found += surfaces.diagnostics()
    return found


def clicks(surfaces: SurfaceSet) -> list[dict[str, Any]]:
    """What each button sends that can be pressed."""
    html = "".join(surface.html() for surface in surfaces)
    sent = []
    for target in [part.split('"')[0] for part in html.split(' id="')[1:]]:
        try:
            done = surfaces.act(target)
        except ActionError:
            continue
        if isinstance(done, ClientAction):
            sent.append(outgoing(done.message))
    return sent


def hold(version: str, program: list[Any]) -> None:
    """Everything that comes of a program is what the schema of its version lets a renderer send."""
    surfaces = Engine().surfaces()
    for problem in told(surfaces, program):
        said = answers.error(problem, version)
        assert said is None or (said["version"], wrong(version, MESSAGES, said)) == (version, []), said
    for sent in clicks(surfaces):
        assert (sent["version"], wrong(version, MESSAGES, sent)) == (version, []), sent
    models = surfaces.data_models("")
    if models:
        (name,) = models
        assert name == NAMES[version in (V1_0.version, CANDIDATE.version)][0]
        assert wrong(version, MODELS, models[name]) == []


@pytest.mark.parametrize("version", SCHEMAS)
@pytest.mark.parametrize("sample", samples.ours(), ids=lambda sample: sample.name)
def test_of_our_samples(sample: samples.Sample, version: str) -> None:
    hold(version, said_in(version, convert(read_program(sample.program), "1.0").messages))


@settings(max_examples=40 * FUZZ, deadline=None, suppress_health_check=list(HealthCheck))
@given(broken(programs()), st.sampled_from(sorted(SCHEMAS)))
def test_of_programs_that_are_broken(program: list[Any], version: str) -> None:
    messages = [message for message in program if isinstance(message, dict)]
    if version in (V1_0.version, CANDIDATE.version):
        messages = [{**message, "version": version} for message in messages]
        hold(version, messages)
    else:
        hold(version, said_in(version, messages))


CALLS = [
    {
        "callFunction": {"@call": "required", "catalogId": "https://example.org/none", "args": {}},
        "functionCallId": "f1",
    },
    {
        "callFunction": {"@call": "formatString", "catalogId": V1_0.version},
        "functionCallId": "f2",
        "surfaceId": "s",
    },
    {"callFunction": {"@call": 5}, "functionCallId": "f3"},
    {"callFunction": {}, "surfaceId": "s"},
    {},
]


@pytest.mark.parametrize("version", [V1_0.version, CANDIDATE.version])
@pytest.mark.parametrize("body", CALLS)
def test_of_calls_that_are_refused(version: str, body: dict[str, Any]) -> None:
    hold(version, [{"version": version, "callRendererFunction": body}])


def test_of_capabilities() -> None:
    metadata = Engine().metadata()

    for version in (V1_0.version, CANDIDATE.version):
        said = {version: metadata["a2uiRendererCapabilities"][version]}
        assert wrong(version, CAPABILITIES, said) == []
    for version in (V0_9.version, V0_9_1.version):
        assert wrong(version, CAPABILITIES, metadata["a2uiClientCapabilities"]) == []
