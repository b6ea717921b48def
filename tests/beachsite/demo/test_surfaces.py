"""Sally's interfaces on the engine that shows them."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from a2ui import BEACH_CATALOG_1_0, ActionError, ClientAction, Engine, EngineOptions, OpenUrl, SurfaceSet
from beachsite.demo import rules
from beachsite.demo.surfaces.flights import flight_results
from beachsite.demo.surfaces.passenger import NEEDED
from tests.beachsite.demo import samples
from tests.beachsite.demo.stage import components_of

ENGINE = Engine(EngineOptions(own=(BEACH_CATALOG_1_0,)))


def shown(name: str) -> SurfaceSet:
    """The interface, live; without a single complaint of the engine."""
    surfaces = ENGINE.surfaces()
    for message in samples.ALL[name]():
        assert surfaces.apply(message, owner="sally") == []
    surfaces.flush()
    return surfaces


def html(surfaces: SurfaceSet) -> str:
    surface = surfaces.get("sally", "s")
    assert surface is not None
    return surface.html()


@pytest.mark.parametrize("name", samples.ALL)
def test_the_engine_takes_it_without_a_word(name: str) -> None:
    assert html(shown(name))


def test_all_sixteen_components_and_a_chart_of_ours_are_used_somewhere() -> None:
    used = {component["component"] for build in samples.ALL.values() for component in components_of(build())}

    assert used == {
        "Text", "Image", "Icon", "Row", "Column", "List", "Card", "Divider", "Button", "TextField", "CheckBox",
        "ChoicePicker", "DateTimeInput", "Slider", "Tabs", "Modal", "Chart",
    }  # fmt: skip


def test_flights_are_written_out() -> None:
    page = html(shown("flights"))

    assert "London Gatwick to Corfu, Saturday 15 August" in page
    for words in ("£94", "£187", "06:15", "12:00", "EJ4521", "All 4 flights that day"):
        assert words in page


def test_two_flights_are_both() -> None:
    found = samples.flights()
    found |= {"flights": found["flights"][:2], "flightsThatDay": 2}
    surfaces = Engine().surfaces()
    for message in flight_results("s", found):
        surfaces.apply(message, owner="sally")

    assert "Both flights that day" in html(surfaces)


def test_hotels_are_rated_and_the_chosen_one_says_so() -> None:
    before, after = html(shown("hotels")), html(shown("hotels-chosen"))

    assert re.search(r"stars, rated \d\.\d out of 10", before)
    assert "Chosen" not in before
    assert after.count("\N{CHECK MARK} Chosen</") == 1


def test_the_weather_of_a_year_is_a_chart() -> None:
    page = html(shown("dashboard"))

    assert "Bar chart, 12 points from Jan to Dec. Lowest " in page
    assert page.count("<rect id=") == 24


def test_a_filter_that_leaves_nothing_says_so() -> None:
    assert "None of the 4 flights that day matches" in html(shown("flights-none"))


class Controls(HTMLParser):
    """The ids of what a person can use: buttons that act, and inputs, by the label or text that is on them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.buttons: list[dict[str, str | None]] = []
        self.inputs: dict[str, list[str]] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if "data-act" in found:
            self.buttons.append(found)
        if kind := found.get("data-in"):
            self.inputs.setdefault(kind, []).append(str(found["id"]))


def controls(surfaces: SurfaceSet) -> Controls:
    return Controls(html(surfaces))


def type_in(surfaces: SurfaceSet, target: str, value: object) -> None:
    edit = surfaces.edit(target, value)
    surfaces.patch(edit.owner, edit.surface_id, edit.ops)


def test_select_sends_what_the_script_needs() -> None:
    surfaces = shown("flights")

    done = surfaces.act(controls(surfaces).buttons[0]["id"])

    assert isinstance(done, ClientAction)
    action = done.message["action"]
    assert action["name"] == "select_flight"
    assert action["context"] == {
        "surface": "s", "row": 0, "previous": None, "form": None, "flight": "EJ4521", "airline": "easyJet",
        "date": "2026-08-15", "passengers": 2, "total": 188, "currency": "GBP",
    }  # fmt: skip


def test_the_link_opens_a_page_of_the_example_domain() -> None:
    surfaces = shown("flights")

    done = surfaces.act(controls(surfaces).buttons[-1]["id"])

    assert done == OpenUrl("https://example.com/corfu")


def test_the_sentence_follows_the_form_while_typing() -> None:
    surfaces = shown("refine")
    found = controls(surfaces)
    assert "Up to £200.00 per person, any departure, 2 passengers" in html(surfaces)

    type_in(surfaces, found.inputs["slider"][0], 120)
    type_in(surfaces, found.inputs["check"][0], True)
    type_in(surfaces, found.inputs["choice"][0], ["morning"])
    type_in(surfaces, found.inputs["number"][0], "1")

    assert "Up to £120.00 per person, direct only, morning departure, 1 passenger" in html(surfaces)
    done = surfaces.act(found.buttons[-1]["id"])
    assert isinstance(done, ClientAction)
    context = done.message["action"]["context"]
    assert (context["maxPrice"], context["directOnly"], context["time"]) == (120, True, ["morning"])
    assert context["results"] == "flights-1"


def test_the_search_button_waits_for_a_complete_form() -> None:
    surfaces = shown("refine")
    found = controls(surfaces)

    type_in(surfaces, found.inputs["date"][0], "")

    with pytest.raises(ActionError):
        surfaces.act(found.buttons[-1]["id"])
    assert rules.DAY_MISSING in html(surfaces)


def test_nobody_goes_on_without_name_address_and_consent() -> None:
    surfaces = shown("passenger")
    found = controls(surfaces)
    name, email = found.inputs["text"]
    go = found.buttons[-1]["id"]
    assert "disabled" in found.buttons[-1]
    assert rules.NAME not in html(surfaces)
    assert f">{NEEDED}<" in html(surfaces)

    type_in(surfaces, name, "A")
    assert rules.NAME in html(surfaces)
    type_in(surfaces, name, "Ada Lovelace")
    type_in(surfaces, email, "ada@example")
    type_in(surfaces, found.inputs["check"][0], True)
    with pytest.raises(ActionError):
        surfaces.act(go)
    type_in(surfaces, email, "ada@example.com")

    assert NEEDED not in html(surfaces)
    done = surfaces.act(go)
    assert isinstance(done, ClientAction)
    assert done.message["action"]["context"]["name"] == "Ada Lovelace"
    assert done.message["action"]["context"]["total"] == 188


def test_the_dashboard_fills() -> None:
    assert "0 of 5 sections" in html(shown("dashboard-empty"))
    half = html(shown("dashboard-half"))
    assert "2 of 5 sections" in half
    assert "Checking buses, metro and cars…" in half
    assert "Sources (5)" in html(shown("dashboard"))


def test_only_local_pictures() -> None:
    for name in samples.ALL:
        for source in re.findall(r'src="([^"]*)"', html(shown(name))):
            assert source.startswith("/static/demo/")


@pytest.mark.parametrize("name", samples.ALL)
def test_strict_engines_take_it_too(name: str) -> None:
    surfaces = Engine(EngineOptions(strict=True, own=(BEACH_CATALOG_1_0,))).surfaces()

    assert [surfaces.apply(message, owner="sally") for message in samples.ALL[name]()] == [
        [] for _ in samples.ALL[name]()
    ]
