"""Reading a long conversation back, in a real browser: as smooth as a static page of the same height, and in place.

``pytest -s`` prints the figures. Frames are measured beside those of the static page, in turn, in the same browser and
both traced; tasks in processor time, since others may be at work on this machine.
"""

from __future__ import annotations

import json
import re
from statistics import median
from typing import Any

from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.conftest import Desk, login
from tests.liveserver import Server
from tests.long.replay import rows

ROWS = 20_000
STEP = 100
"""Pixels that are scrolled in a frame: 6,000 a second, faster than a wheel."""

FRAMES = 1_500
LONG = 50
"""Milliseconds from which on a task is a long one."""

TIMES = 3
"""So often both are measured; the median counts, since somebody else's work may come in between at one or the other."""

CATEGORIES = ["-*", "toplevel", "devtools.timeline"]

# Milliseconds from frame to frame; and how far what was in sight has moved by itself when a page came.
SCROLL = """([step, frames]) => new Promise(done => {
  const jumps = [], times = [];
  let held, height = document.documentElement.scrollHeight, last;
  const sight = () => document.elementFromPoint(innerWidth / 2, innerHeight / 2)?.closest('.b-me, .b-turn');
  function frame(now) {
    if (last) times.push(now - last);
    last = now;
    if (held) {
      const [element, at] = held, grown = document.documentElement.scrollHeight !== height;
      if (grown && element.isConnected) jumps.push(Math.abs(element.getBoundingClientRect().top - at));
    }
    height = document.documentElement.scrollHeight;
    if (!frames-- || scrollY === 0 && !document.querySelector('.b-earlier')) return done({ jumps, times });
    scrollBy(0, -step);
    const element = sight();
    held = element && [element, element.getBoundingClientRect().top];
    requestAnimationFrame(frame);
  }
  requestAnimationFrame(frame);
})"""


def scrolled(browser: Browser, page: Page) -> tuple[dict[str, Any], bytes]:
    """What was measured, and the trace of it."""
    browser.start_tracing(page=page, categories=CATEGORIES)
    found: dict[str, Any] = page.evaluate(SCROLL, [STEP, FRAMES])
    return found, browser.stop_tracing()


def p95(times: list[float]) -> float:
    return sorted(times)[int(len(times) * 0.95)]


def standing(page: Page) -> Page:
    """All that ``page`` has by now, in another tab, without its script; at its end, as the other one was."""
    whole = re.sub(r"<script\b[^>]*>.*?</script>", "", page.content(), flags=re.DOTALL)
    static = page.context.new_page()

    def answer(route: Route) -> None:
        route.fulfill(body=whole, content_type="text/html; charset=utf-8")

    address = f"{page.url.partition('?')[0]}standing"
    static.route(address, answer)
    static.goto(address)
    static.evaluate("scrollTo(0, 1e9)")
    static.wait_for_timeout(500)
    return static


def tasks_of_ours(trace: bytes) -> list[float]:
    """Milliseconds of processor time of each task of a page's main thread in which its own script ran: style, layout
    and drawing that it asked for included, and what else the browser did in the same task."""
    events = [event for event in json.loads(trace)["traceEvents"] if event["ph"] == "X"]
    ours = [event for event in events if "panel" in _script(event)]
    assert ours
    threads: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for event in events:
        if event["name"].endswith("RunTask") and event.get("dur"):
            threads.setdefault((event["pid"], event["tid"]), []).append(event)
    found: dict[float, float] = {}
    for event in ours:
        for task in threads[event["pid"], event["tid"]]:
            if task["ts"] <= event["ts"] < task["ts"] + task["dur"]:
                found[task["ts"]] = task.get("tdur", 0) / 1000
    return sorted(found.values())


def _script(event: dict[str, Any]) -> str:
    data = event.get("args", {}).get("data") or {}
    return str(data.get("url", "")) if event["name"] == "FunctionCall" else ""


def test_reading_back_through_20_000_rows_is_as_smooth_as_a_static_page_and_keeps_the_place(
    desk: Desk, site: Server
) -> None:
    script = f"from tests.long_talk import for_user; print(for_user('grace', {ROWS}))"
    session = site.manage("shell", "-v", "0", "-c", script).strip()
    page = desk.page()
    # Its first page is made of all of its rows.
    page.set_default_timeout(90_000)
    login(page, site, "grace", "a sound password", then=f"/chat/{session}/")
    browser = page.context.browser
    assert browser is not None
    lives: list[float] = []
    stills: list[float] = []
    for _each in range(TIMES):
        page.reload()
        expect(page.locator("#status")).to_have_attribute("data-state", "connected", timeout=60_000)
        live, trace = scrolled(browser, page)
        tasks = tasks_of_ours(trace)
        assert page.locator(".b-turn").count() > 300
        assert live["jumps"]
        assert max(live["jumps"]) <= 2, sorted(live["jumps"])[-5:]
        static = standing(page)
        heights = [each.evaluate("document.documentElement.scrollHeight") for each in (page, static)]
        assert abs(heights[0] - heights[1]) < 0.02 * heights[0], heights
        still, _trace = scrolled(browser, static)
        static.close()
        lives.append(p95(live["times"]))
        stills.append(p95(still["times"]))
        print(
            f"frames: p95 {lives[-1]:.1f} ms beside {stills[-1]:.1f}; "
            f"{len(live['jumps'])} pages came, moved by {max(live['jumps']):.2f} px; "
            f"{len(tasks)} tasks of ours, longest {tasks[-3:]} ms"
        )
        assert not [each for each in tasks if each > LONG], tasks[-5:]
    assert median(lives) <= 1.3 * median(stills), (lives, stills)


def test_every_page_down_to_the_first_row(desk: Desk, site: Server) -> None:
    script = "from tests.long_talk import for_user; print(for_user('grace', 3000))"
    session = site.manage("shell", "-v", "0", "-c", script).strip()
    page = desk.page()
    # Its first page is made of all of its rows.
    page.set_default_timeout(90_000)
    login(page, site, "grace", "a sound password", then=f"/chat/{session}/")
    gap = page.locator(".b-earlier a")
    while gap.count():
        before = gap.get_attribute("data-more")
        page.evaluate("document.querySelector('.b-earlier a')?.click()")
        page.wait_for_function(
            "before => document.querySelector('.b-earlier a')?.dataset.more !== before", arg=before
        )
    assert page.locator(".b-me").count() == 1 + sum(1 for row in rows(3000) if row.kind == "message")
    note = page.get_by_label("Note")
    note.fill("typed at the beginning")
    expect(page.locator("#thread .b-surface").first.locator(".a2-t").first).to_have_text(
        "typed at the beginning"
    )


def test_a_search_leads_to_what_is_not_loaded_and_it_is_in_use(desk: Desk, site: Server) -> None:
    script = "from tests.long_talk import for_user; print(for_user('grace', 150))"
    session = site.manage("shell", "-v", "0", "-c", script).strip()
    page = desk.page()
    login(page, site, "grace", "a sound password", then=f"/chat/{session}/")
    expect(page.locator("#status")).to_have_attribute("data-state", "connected")
    expect(page.locator("#e1")).to_have_count(0)
    page.click("[popovertarget=find]")
    page.keyboard.type("needle")
    page.locator(".b-find__hit").click()
    expect(page.locator("#e1:target")).to_be_in_viewport()
    page.get_by_role("button", name="Go").click()
    expect(page.locator(".b-event")).to_have_count(1)
