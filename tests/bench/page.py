"""What our page module costs in a real browser: ``python -m tests.bench.page [--json]``.

One update in a list of 1000 rows through `apply.js` beside a bare `outerHTML` of the same node, and a whole surface
beside a bare `innerHTML`, layout included. The ways take turns every few updates and the value is a median, so that
whatever else the machine does meets all of them. Also what a browser downloads to show a conversation. Exit code 2
where the shared folder with the workload is absent.
"""

from __future__ import annotations

import mimetypes
import os
import re
import sys
from collections import defaultdict
from collections.abc import Sequence
from html import escape
from pathlib import Path
from statistics import median
from typing import Any

import django
import django_htmx
import orjson
from playwright.sync_api import Page, Route, sync_playwright

from a2ui import Engine
from beachsite.suite import CHROMIUM
from envelopes.client import bundling, finders
from tests.bench.engine import live
from tests.bench.floors import ROOT, Floors, NoFloorsError
from tests.bench.report import JSON_FLAG, Target, show
from tests.browser.conftest import ARGUMENTS

WAYS = ("bare", "ours", "replace", "htmx")
ORIGIN = "http://bench.test"
BATCH = 400
SLICE = 40
"""Updates of one way before it is the turn of the next."""
ROUNDS = 3
WHOLE = 15
"""How often a whole surface is put on the page."""

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="htmx-config" content='{"prefix":"","history":false,"morphIgnore":["data-htmx-powered","open","style"],
"defaultSettleDelay":0,"includeIndicatorCSS":false,"extensions":"panel"}'>
<link rel="stylesheet" href="/beach/chat.css"><script src="/django_htmx/htmx-4.min.js"></script>
<script type="module">
import { apply } from '/client/apply.js';
import '/client/fields.js';
const slot = document.getElementById('slot');
const layout = () => slot.offsetHeight;
const bare = (id, html) => { document.getElementById(id).outerHTML = html; };
// Milliseconds of one update.
window.updates = async (way, all) => {
  gc();
  const began = performance.now();
  for (const { id, html, ops } of all) {
    if (way === 'bare') bare(id, html);
    else await apply(way === 'replace' ? [['r', id, html]] : way === 'htmx'
      ? [['x', `<hx-partial hx-target="#${id}" hx-swap="outerMorph">${html}</hx-partial>`]] : ops);
    layout();
  }
  return (performance.now() - began) / all.length;
};
window.whole = async (way, html) => {
  slot.replaceChildren();
  layout();
  gc();
  const began = performance.now();
  if (way === 'bare') slot.innerHTML = html;
  else await apply([['i', 'slot', 'beforeend', html]]);
  layout();
  return performance.now() - began;
};
window.ready = true;
</script></head><body id="panel"><script type="application/json" id="strings">{}</script><main id="slot"></main></body>
</html>"""


def serve(route: Route) -> None:
    """The page, our static files and htmx, without a server."""
    path = route.request.url.removeprefix(ORIGIN).lstrip("/")
    if not path:
        route.fulfill(body=PAGE, content_type="text/html")
        return
    if path in bundling.SHEETS:
        route.fulfill(path=finders.built(path) / path, content_type="text/css")
        return
    for folder in (ROOT, ROOT / "static", Path(django_htmx.__file__).parent / "static"):
        if (folder / path).is_file():
            kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
            route.fulfill(body=(folder / path).read_bytes(), content_type=kind)
            return
    route.fulfill(status=404, body="")


Update = dict[str, Any]
"""The node's `id`, its new `html`, and the `ops` that the engine sends for it."""


def material(floors: Floors) -> tuple[str, list[dict[str, list[Update]]]]:
    """The surface W2-1000, and rounds of updates by way: of the same nodes, with texts that differ in one character, so
    that none finds its work done."""
    workload = floors.w2(1000)
    surfaces = live(Engine(), workload)
    surface = next(iter(surfaces))
    before = surface.html()
    ops = []
    for line in workload.updates[:BATCH]:
        surfaces.apply(orjson.loads(line))
        ops += [op for change in surfaces.flush() for op in change.ops]
    openings = {dom_id: tag for tag, dom_id in re.findall(r'(<div id="([\w-]+)"[^>]*>)', before)}
    rounds = [
        {
            way: [_update(openings, op, f"{number}{mark}") for op in ops]
            for way, mark in zip(WAYS, "abcd", strict=True)
        }
        for number in range(ROUNDS)
    ]
    return before, rounds


def _update(openings: dict[str, str], op: Any, mark: str) -> Update:
    _, dom_id, text = op
    words = f"{text} {mark}"
    return {"id": dom_id, "html": f"{openings[dom_id]}{escape(words)}</div>", "ops": [["t", dom_id, words]]}


def measure(page: Page, floors: Floors) -> list[Target]:
    """All rows that need a browser."""
    html, rounds = material(floors)
    first: dict[str, list[float]] = defaultdict(list)
    for number in range(WHOLE):
        for way in _turn(WAYS[:2], number):
            first[way].append(page.evaluate("([way, html]) => whole(way, html)", [way, html]))
    taken: dict[str, list[float]] = defaultdict(list)
    for batch in rounds:
        for start in range(0, BATCH, SLICE):
            for way in _turn(WAYS, start // SLICE):
                part = batch[way][start : start + SLICE]
                taken[way].append(page.evaluate("([way, all]) => updates(way, all)", [way, part]))
    bare, ours, replace, htmx = (median(taken[way]) for way in WAYS)
    whole, innermost = median(first["ours"]), median(first["bare"])
    unit = "x bare outerHTML"
    return [
        Target.at_most(
            "update as the engine sends it", ours / bare, unit, 1.3, f"{ours:.3f} ms against {bare:.3f}"
        ),
        Target.at_most("the same element replaced", replace / bare, unit, 1.3, f"{replace:.3f} ms"),
        Target.at_most("the same element through htmx", htmx / bare, unit, 2, f"{htmx:.3f} ms"),
        Target.at_most(
            "first surface",
            whole / innermost,
            "x bare innerHTML",
            1.3,
            f"{whole:.1f} ms against {innermost:.1f}",
        ),
    ]


def _turn(ways: Sequence[str], number: int) -> Sequence[str]:
    """The same ways; each is first, second and so on equally often."""
    at = number % len(ways)
    return [*ways[at:], *ways[:at]]


def size(page: Page) -> Target:
    """All the code of ours that a browser downloads to show a conversation."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "beachsite.settings.test")
    django.setup()
    from tests.browser.downloads import LIMIT, scripts
    from tests.browser.stage import render, serving
    from tests.envelopes.transports.panel.talk import Talk

    with serving(lambda: render(Talk())) as url:
        sizes = {path: len(body) for path, body in scripts(page, url).items()}
    about = ", ".join([f"{path} {number / 1000:.2f}" for path, number in sizes.items()])
    ours = sum(number for path, number in sizes.items() if path.startswith("beach/"))
    return Target.at_most("client code, gzipped", ours / 1000, "kB", LIMIT / 1000, about)


def main() -> int:
    """Prints all rows."""
    try:
        floors = Floors()
    except NoFloorsError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    with sync_playwright() as playwright:
        arguments = [*ARGUMENTS, "--js-flags=--expose-gc"]
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=arguments)
        page = browser.new_page()
        page.route(f"{ORIGIN}/**", serve)
        page.goto(ORIGIN)
        page.wait_for_function("window.ready")
        targets = [*measure(page, floors), size(browser.new_page())]
        browser.close()
    sys.stdout.write(show(targets, as_json=JSON_FLAG in sys.argv[1:]) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
