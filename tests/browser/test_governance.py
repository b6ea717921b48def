"""What is tried out with some people, in a real browser: a placeholder, the question, what it lets through."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import PICTURES, PLANNER, Desk
from tests.browser.test_main_job import say, settled
from tests.liveserver import PASSWORD, Server

HERE = {**PLANNER, "BEACH_FLAG_SECONDS": "0.2"}
SECRET = "Hold to say where to."
SIZES = {"wide": (1280, 800), "narrow": (390, 844)}


def _pictures(page: Page, name: str) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    for size, (width, height) in SIZES.items():
        for scheme in ("light", "dark"):
            page.set_viewport_size({"width": width, "height": height})
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            page.screenshot(path=PICTURES / f"governance-{name}-{size}-{scheme}.png")


def _switch(server: Server, *words: str) -> None:
    server.manage("waffle_flag", "planner.spoken", "--create", *words)


def test_an_experiment_is_a_placeholder_then_a_question_then_itself(
    make_server: Callable[..., Server], desk: Desk, page: Page
) -> None:
    server = make_server(environ=HERE)
    page.goto(f"{server.url}/")
    say(page, "Show me the lab")
    settled(page)
    cards, placeholder = page.locator(".b-surface"), page.get_by_text("This isn’t available right now.")
    expect(placeholder).to_be_visible()
    expect(page.locator("#thread")).not_to_contain_text(SECRET)
    _pictures(page, "placeholder")

    _switch(server, "--everyone")
    question = page.get_by_role("group", name="Card from Beach")
    expect(question).to_contain_text("Pia wants to listen to you while you hold a button.")
    expect(question).to_contain_text("Nothing is recorded.")
    expect(placeholder).to_be_visible()
    _pictures(page, "consent")
    question.get_by_role("button", name="Allow", exact=True).click()

    expect(page.get_by_text(SECRET)).to_be_visible()
    expect(question).to_contain_text("You allow this.")
    expect(placeholder).to_have_count(0)
    expect(cards).to_have_count(2)
    _pictures(page, "shown")
    page.reload()
    expect(page.get_by_text(SECRET)).to_be_visible()

    question.get_by_role("button", name="Don’t allow any more").click()
    expect(placeholder).to_be_visible()
    expect(page.get_by_text(SECRET)).to_have_count(0)
    question.get_by_role("button", name="Allow", exact=True).click()
    expect(page.get_by_text(SECRET)).to_be_visible()
    # By everybody, in the page that is open.
    _switch(server, "--deactivate")
    expect(placeholder).to_be_visible()
    expect(page.get_by_text(SECRET)).to_have_count(0)


def test_flags_are_switched_in_the_admin_under_its_policy(
    make_server: Callable[..., Server], desk: Desk, page: Page
) -> None:
    server = make_server(environ=HERE)
    page.goto(f"{server.url}/admin/login/?next=/admin/waffle/flag/add/")
    page.get_by_label("Username").fill("grace")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_label("Name").fill("planner.spoken")
    page.get_by_label("Everyone").select_option("true")
    page.get_by_role("button", name="Save", exact=True).click()

    expect(page.locator("#result_list")).to_contain_text("planner.spoken")
    _pictures(page, "admin")
