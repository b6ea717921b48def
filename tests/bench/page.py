"""What our page module costs in a real browser: ``python -m tests.bench.page [--json]``.

One update in a list of 1000 rows through `static/beach/apply.js` beside a bare `outerHTML` of the same node, and a
whole surface beside a bare `innerHTML`; layout included, batches in turn, medians. Exit code 2 where the shared folder
with the workload is absent.
"""

from __future__ import annotations

import gzip
import mimetypes
import sys
from pathlib import Path
from statistics import median
from typing import Any

import django_htmx
import orjson
from playwright.sync_api import Page, Route, sync_playwright

from a2ui import Engine
from beachsite.suite import CHROMIUM
from tests.bench.engine import live
from tests.bench.floors import ROOT, Floors, NoFloorsError
from tests.bench.report import JSON_FLAG, Target, show
from tests.browser.conftest import ARGUMENTS

ORIGIN = "http://bench.test"
BATCH = 400
ROUNDS = 3
WHOLE = 9
"""How often a whole surface is put on the page."""
CLIENT_KB = 8.0

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="htmx-config" content='{"prefix":"","history":false,"defaultSettleDelay":0,"includeIndicatorCSS":false,
"extensions":"panel"}'>
<link rel="stylesheet" href="/beach/tokens.css"><link rel="stylesheet" href="/beach/components.css">
<link rel="stylesheet" href="/beach/a2ui.css"><script src="/django_htmx/htmx-4.min.js"></script>
<script type="module">
import { apply } from '/beach/apply.js';
const slot = document.getElementById('slot');
const layout = () => slot.offsetHeight;
const bare = (id, html) => { document.getElementById(id).outerHTML = html; };
// Each way gets the same new markup for the same nodes; milliseconds of one update.
window.updates = async (way, all) => {
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
  const began = performance.now();
  if (way === 'bare') slot.innerHTML = html;
  else await apply([['i', 'slot', 'beforeend', html]]);
  layout();
  return performance.now() - began;
};
window.ready = true;
</script></head><body><main id="slot"></main></body></html>"""


def serve(route: Route) -> None:
    """The page, our static files and htmx, without a server."""
    path = route.request.url.removeprefix(ORIGIN).lstrip("/")
    if not path:
        route.fulfill(body=PAGE, content_type="text/html")
        return
    for folder in (ROOT / "static", Path(django_htmx.__file__).parent / "static"):
        if (folder / path).is_file():
            kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
            route.fulfill(body=(folder / path).read_bytes(), content_type=kind)
            return
    route.fulfill(status=404, body="")


def material(floors: Floors) -> tuple[str, list[list[dict[str, Any]]]]:
    """The surface W2-1000, and batches of updates: the node's id, its new markup, and what the engine sends."""
    workload = floors.w2(1000)
    surfaces = live(Engine(), workload)
    surface = next(iter(surfaces))
    before = surface.html()
    ops = []
    for line in workload.updates[:BATCH]:
        surfaces.apply(orjson.loads(line))
        ops += [op for change in surfaces.flush() for op in change.ops]
    batches = []
    for number in range(ROUNDS):
        batch = []
        for _, dom_id, text in ops:
            words = f"{text} {number}"
            html = f'<div id="{dom_id}" class="a2-t a2-w-1">{words.replace("&", "&amp;").replace("<", "&lt;")}</div>'
            batch.append({"id": dom_id, "html": html, "ops": [["t", dom_id, words]]})
        batches.append(batch)
    return before, batches


def measure(page: Page, floors: Floors) -> list[Target]:
    """All rows that need a browser."""
    html, batches = material(floors)
    ways = ("bare", "ours", "replace", "htmx")
    first: dict[str, list[float]] = {way: [] for way in ways[:2]}
    for _ in range(WHOLE):
        for way, found in first.items():
            found.append(page.evaluate("([way, html]) => whole(way, html)", [way, html]))
    taken: dict[str, list[float]] = {way: [] for way in ways}
    for batch in batches:
        for way, found in taken.items():
            found.append(page.evaluate("([way, all]) => updates(way, all)", [way, batch]))
    bare, ours, replace, htmx = (median(taken[way]) for way in ways)
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


def size() -> Target:
    """Our modules as a server sends them, one by one."""
    modules = sorted((ROOT / "static" / "beach").glob("*.js"))
    sizes = {module.name: len(gzip.compress(module.read_bytes(), 9)) for module in modules}
    about = ", ".join([f"{name} {number / 1000:.1f}" for name, number in sizes.items()])
    return Target.at_most("client modules, gzipped", sum(sizes.values()) / 1000, "kB", CLIENT_KB, about)


def main() -> int:
    """Prints all rows."""
    try:
        floors = Floors()
    except NoFloorsError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        page = browser.new_page()
        page.route(f"{ORIGIN}/**", serve)
        page.goto(ORIGIN)
        page.wait_for_function("window.ready")
        targets = measure(page, floors)
        browser.close()
    sys.stdout.write(show([*targets, size()], as_json=JSON_FLAG in sys.argv[1:]) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
