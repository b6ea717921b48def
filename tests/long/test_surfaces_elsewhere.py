"""3,000 models with three patches each: what we tell readers elsewhere gives them the same model, in no more bytes than
replacing takes. Readers are the engine, and the official JavaScript core where `BEACH_WEB_CORE` names a folder with it
(see test_official_cores). `BEACH_CORES_PROGRAMS` is how many are made, `BEACH_CORES_FROM` the seed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, seed
from hypothesis import strategies as st

from a2ui import PatchError
from envelopes.transports.live.surfaces import initial, writes
from tests.conformance.asking import Oracle
from tests.envelopes.transports.live.surfaces.material import (
    MODELS,
    exactly,
    model_of,
    patches,
    surfaces_with,
)
from tests.envelopes.transports.live.surfaces.test_writes import patched
from tests.long.test_official_cores import EVERY, SEED, WEB_CORE


@pytest.fixture
def web_core() -> Iterator[Oracle]:
    if not WEB_CORE:
        pytest.skip("BEACH_WEB_CORE names no folder with the official JavaScript core")
    made = Oracle(["node", str(Path(__file__).with_name("web_core.mjs")), WEB_CORE])
    yield made
    made.close()


@pytest.mark.parametrize("version", ["0.9", "0.9.1", "1.0"])
def test_the_engine_reads_the_same(version: Any) -> None:
    @seed(SEED)
    @EVERY
    @given(st.data())
    def check(data: st.DataObject) -> None:
        patched(data, version)

    check()


@seed(SEED)
@EVERY
@given(st.data())
def test_the_official_javascript_core_reads_the_same(web_core: Oracle, data: st.DataObject) -> None:
    ours = surfaces_with(data.draw(MODELS.map(in_doubles)))
    surface = ours.get("agent", "s")
    assert surface is not None
    told = initial(surface, "0.9.1")
    for _ in range(3):
        before = model_of(ours, "agent")
        try:
            ours.patch("agent", "s", in_doubles(data.draw(patches(before))))
        except PatchError:
            continue
        ours.skip()
        told += writes("s", before, model_of(ours, "agent"), "0.9.1")
    answer = web_core.ask(json.loads(json.dumps(told)))

    assert answer.get("errors") == [], answer
    assert exactly(answer["dataModel"]) == exactly(model_of(ours, "agent"))


def in_doubles(value: Any) -> Any:
    """Without integers that JavaScript cannot hold."""
    if isinstance(value, dict):
        return {name: in_doubles(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [in_doubles(inner) for inner in value]
    return 7 if isinstance(value, int) and abs(value) > 2**53 else value
