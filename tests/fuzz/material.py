"""Hostile values for hypothesis: texts, JSON, programs that were right once and have been damaged."""

# ruff: noqa: SIM905 - words in a row read best
from __future__ import annotations

from copy import deepcopy
from random import Random
from typing import Any

from hypothesis import strategies as st

from tests.a2ui import chaos
from tests.a2ui.programs import create

_SNIPPETS = """${ } ${/a} ${f(a:1)} ${'x'} \\ ' " ( ) [ ] { } ]( ![ ** __ ` ~~ | - > # & < <a <script> javascript: data:
    // \\\\ @ %
    http://a.b https:// :80 ?# 1e999 -0 NaN Infinity true null \u202e \u200b \ud800 \u0000 \u0661 \u00e9 e\u0301 \n
    \r\n \t | --- &#106; &lt; (a+)+ (?=a) \\1 a{1,99} [^ ^ $ . * + ? \\d \\p{L} /0 /- /01 ~ ~1 ~2 __proto__"""
SNIPPETS = st.sampled_from(_SNIPPETS.split(" "))
TEXTS = st.lists(SNIPPETS | st.text(max_size=6), max_size=24).map("".join)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=True, allow_infinity=True)
    | TEXTS
)
KEYS = st.sampled_from(
    "path call args value id component children child text label options tabs action event name context checks "
    "condition message version surfaceId catalogId components op from $secret __proto__ 0 key".split()
) | st.text(max_size=4)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)
POINTERS = st.lists(
    st.sampled_from(["", "a", "items", "0", "1", "-", "01", "~", "~1", "n", "\ud800"]), max_size=5
).map(lambda tokens: "".join("/" + token for token in tokens))
OPERATIONS = st.lists(
    st.fixed_dictionaries(
        {
            "op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test"]) | TEXTS,
            "path": POINTERS | JSON,
        },
        optional={"from": POINTERS | JSON, "value": JSON},
    )
    | JSON,
    max_size=6,
)


@st.composite
def damaged(draw: Any, value: Any) -> Any:
    """A copy of a JSON value with up to three places replaced, doubled or removed."""
    value = deepcopy(value)
    for _ in range(draw(st.integers(0, 3))):
        places = _places(value)
        if not places:
            return draw(JSON)
        holder, at = places[draw(st.integers(0, len(places) - 1))]
        what = draw(st.sampled_from(["replace", "remove", "rename", "double"]))
        if what == "replace":
            holder[at] = draw(JSON)
        elif what == "remove":
            del holder[at]
        elif what == "rename" and isinstance(holder, dict):
            holder[draw(KEYS)] = holder.pop(at)
        elif isinstance(holder, list):
            holder.insert(at, deepcopy(holder[at]))
    return value


def _places(value: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    stack = [value]
    while stack and len(found) < 500:
        holder = stack.pop()
        inside = (
            holder.items()
            if isinstance(holder, dict)
            else enumerate(holder)
            if isinstance(holder, list)
            else ()
        )
        for at, below in inside:
            found.append((holder, at))
            stack.append(below)
    return found


@st.composite
def programs(draw: Any) -> list[Any]:
    """Steps of a session: messages, and lists of patch operations."""
    random = Random(draw(st.integers(0, 2**32)))
    steps: list[Any] = [
        create(),
        *chaos.start(random),
        *[chaos.step(random) for _ in range(draw(st.integers(0, 6)))],
    ]
    return [draw(damaged(step)) if draw(st.booleans()) else step for step in steps]
