"""Hypothesis strategies for JSON."""

from __future__ import annotations

import os

from hypothesis import strategies as st

FUZZ = int(os.environ.get("BEACH_FUZZ", "1"))
"""How many times the usual number of examples the slow property tests run; a long run sets 50."""

KEYS = st.sampled_from(["a", "b", "items", "0", "1", "-", "", "a/b", "m~n", "ключ"])
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=3)
SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-2, 2).map(lambda x: round(x, 1)) | TEXTS
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
TOKENS = st.lists(
    st.sampled_from(["a", "b", "items", "0", "1", "2", "3", "-", "a/b", "m~n", "01"]), max_size=4
).map(tuple)
