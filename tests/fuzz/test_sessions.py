"""Random sessions, each on three pages that are brought up to date at different times."""

from __future__ import annotations

from random import Random
from xml.etree import ElementTree as ET

import pytest

from a2ui import Engine
from tests.a2ui import chaos
from tests.a2ui import page as browser
from tests.a2ui.programs import create
from tests.fuzz import dom
from tests.fuzz.sessions import play

AT_ONCE = 15


@pytest.mark.parametrize("start", range(0, 5 * AT_ONCE, AT_ONCE))
def test_e2_e3_pages_are_the_same_element_by_element_whenever_they_are_brought_up_to_date(start):
    for seed in range(start, start + AT_ONCE):
        play(seed)


@pytest.mark.parametrize("start", range(0, 3 * AT_ONCE, AT_ONCE))
def test_so_they_are_in_1_0_with_numbers_of_items_and_two_catalogs(start):
    for seed in range(start, start + AT_ONCE):
        play(seed, version="1.0")


@pytest.mark.parametrize("start", range(0, 3 * AT_ONCE, AT_ONCE))
def test_so_they_are_with_calls_of_the_agents_functions_and_their_answers(start):
    for seed in range(start, start + AT_ONCE):
        play(seed, version="1.0", asking=True)


@pytest.mark.parametrize("seed", range(6))
def test_the_page_of_text_has_the_elements_that_a_browser_makes(seed):
    random = Random(seed)
    surfaces = Engine().surfaces()
    for message in (create(), *chaos.start(random)):
        surfaces.apply(message)
    html = surfaces.flush()[0].html

    def inside(element: ET.Element, parent: str) -> list[tuple[str, str]]:
        name = element.get("id") or parent
        below = [pair for child in element for pair in inside(child, name)]
        return [(name, parent), *below] if "id" in element.attrib else below

    def within(element: dom.Element, parent: str) -> list[tuple[str, str]]:
        name = element.id or parent
        below = [
            pair for node in element.inside if isinstance(node, dom.Element) for pair in within(node, name)
        ]
        return [(name, parent), *below] if element.id else below

    (found,), (quick,) = browser.parse(html), dom.parse(html)
    assert isinstance(quick, dom.Element)
    assert quick.html() == html
    assert within(quick, "") == inside(found, "")


def test_a_page_of_text_refuses_what_a_page_cannot_do():
    page = dom.Page()
    page._put(page._root, 0, dom.parse('<div id="a"><p id="b"></p></div>'))

    for op in (
        ["d", "c"],
        ["i", "a", "beforeend", '<p id="b"></p>'],
        ["r", "b", '<p id="a"></p>'],
        ["t", "x", ""],
    ):
        with pytest.raises(AssertionError):
            page._apply(op)
    with pytest.raises(AssertionError):
        dom.parse("<div><p></div></p>")
