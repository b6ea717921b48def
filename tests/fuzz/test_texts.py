"""Texts: expressions, Markdown, patterns, addresses, dates and numbers."""

# ruff: noqa: PT017 - either answer is right, so there is nothing to expect with raises
from __future__ import annotations

import re
from urllib.parse import urlsplit

import html5lib
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from a2ui import EngineOptions, ExpressionError
from a2ui.catalog.basic import BASIC_CATALOG
from a2ui.functions.expressions import parse_template
from a2ui.safety import markdown, regex, urls
from a2ui.safety.limits import DEFAULT_LIMITS
from a2ui.safety.text import to_text
from tests.a2ui.strategies import FUZZ
from tests.fuzz.cost import BOUND_MS, cost
from tests.fuzz.material import JSON, SCALARS, TEXTS

FEW = settings(max_examples=25 * FUZZ, deadline=None, suppress_health_check=[HealthCheck.too_slow])
ENV = EngineOptions().env
FUNCTIONS = {function.name: function for function in BASIC_CATALOG.functions if not function.effect}
ARGUMENTS = st.dictionaries(
    st.sampled_from(["value", "values", "pattern", "format", "min", "max", "decimals", "currency", "grouping", "one",
                     "other", "few", "many", "zero", "two"]),
    JSON,
    max_size=5,
)  # fmt: skip


@FEW
@given(TEXTS)
def test_expressions(text):
    def parse():
        try:
            parse_template(text)
        except ExpressionError as error:
            assert error.message

    assert cost(parse) <= BOUND_MS


@FEW
@given(TEXTS, st.booleans(), st.integers(1, 60))
def test_markdown(text, inline, times):
    text = (text * times)[:8_000]
    made = []
    assert cost(lambda: made.append(markdown.render(text, inline=inline).html)) <= BOUND_MS

    tree = html5lib.parseFragment(made[-1], namespaceHTMLElements=False)
    allowed = markdown.TAGS | {"DOCUMENT_FRAGMENT"}
    for element in tree.iter():
        assert element.tag in allowed
        assert set(element.attrib) <= {"href", "rel", "target", "start"}
        if "href" in element.attrib:
            assert urlsplit(element.attrib["href"]).scheme in {"http", "https", "mailto"}


@FEW
@given(TEXTS, TEXTS, st.integers(1, 400))
def test_patterns(pattern, text, times):
    def search():
        try:
            assert regex.search(pattern, (text * times)[:10_000], DEFAULT_LIMITS) in (True, False)
        except ExpressionError as error:
            assert error.code in {"EXPRESSION_ERROR", "budget_exceeded"}

    assert cost(search) <= BOUND_MS


@FEW
@given(SCALARS | TEXTS)
def test_addresses(url):
    for check in (urls.safe_link, urls.safe_open, lambda one: urls.safe_image(one, frozenset({"a.b"}))):
        found = check(url)
        if found is None:
            continue
        assert not re.search(r"[\s\x00-\x1f\\]", found)
        assert re.match(
            r"https?://[^/@]+|mailto:|/(?!/)|data:image/(png|jpeg|gif|webp|avif);", found, re.IGNORECASE
        )


@FEW
@given(st.sampled_from(sorted(FUNCTIONS)), ARGUMENTS)
def test_functions(name, arguments):
    def call():
        try:
            to_text(FUNCTIONS[name].evaluate(arguments, ENV))
        except ExpressionError as error:
            assert error.message

    assert cost(call) <= 2 * BOUND_MS
