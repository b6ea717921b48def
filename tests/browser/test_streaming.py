"""An answer in Markdown while it is written, in a real browser: what has closed is drawn, and the part keeps it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from playwright.sync_api import expect

from envelopes.delivery.streamed import PlacedDelta
from envelopes.transports.panel.drawings import Drawings
from envelopes.types import JsonObject
from tests.browser.stage import Stage
from tests.browser.test_shell import SELECT
from tests.browser.test_shell import show as show  # noqa: PLC0414 - a fixture
from tests.envelopes.transports.panel.streaming import LIVE, delta, frame_of
from tests.envelopes.transports.panel.talk import Talk
from tests.envelopes.transports.panel.test_streamed_prose import deltas_of

ANSWER = (
    "## Two ferries\n\nBoth leave **today**.\n\n- Nine, *calm*\n- Noon\n  - by way of **Paxos**\n- Six\n\n"
    "| Ferry | Price |\n|---|--:|\n| Nine | 12 |\n| Six | 9 |\n\n```\nwalk\nswim\n```\n\nTake the **first**."
)
SEEN = "document.querySelector('.b-live__text').innerText"
BLOCKS = "[...document.querySelector('.b-turn .b-prose').children]"


def test_p13_what_has_closed_is_drawn_and_stays_when_the_part_comes(show: Callable[..., Stage]) -> None:
    talk = Talk()
    talk.me("Hello")
    talk.turn(1)
    stage = show(talk)
    page, drawings = stage.page, Drawings("en")
    seen = []
    for piece in deltas_of(ANSWER, [16] * 30):
        stage.push(frame_of(drawings, piece) | {"into": talk.thread.container(1)})
        seen.append(page.evaluate(f"new Promise(done => setTimeout(() => done({SEEN}), 0))"))
    closed = [text for text in seen if "Take" in text]
    assert closed
    assert not any(
        mark in text for text in closed for mark in ("##", "|", "```", "- ", "*calm", "**Paxos", "**today")
    )
    for selector in ("h3", "p strong", "li em", "li li strong", "table td", "pre code"):
        expect(page.locator(f"#v{LIVE} {selector}").first).to_be_visible()
    expect(page.locator(".b-prose td").nth(1)).to_have_css("text-align", "end")
    page.evaluate(SELECT, "Paxos")
    page.evaluate(f"window.before = {BLOCKS}.slice(0, -1)")
    # Nothing is read out while it is written, nor a second time when it is there.
    assert page.locator("#thread").get_attribute("aria-live") == "off"
    assert page.locator(f"#v{LIVE}").get_attribute("aria-busy") == "true"

    stage.row(talk.part("response", ANSWER, live=LIVE))

    expect(page.locator(f"#v{LIVE}")).to_have_count(0)
    assert page.evaluate(f"before.length === 5 && before.every((block, at) => block === {BLOCKS}[at])")
    assert page.evaluate("String(getSelection())") == "Paxos"
    assert page.locator(".b-turn .b-prose > p").last.inner_html() == "Take the <strong>first</strong>."
    assert page.evaluate(
        "fetch(location).then(page => page.text()).then(text => {"
        "const part = document.querySelector('.b-turn .b-prose');"
        "return new DOMParser().parseFromString(text, 'text/html').getElementById(part.id).isEqualNode(part); })"
    )


def test_p13_items_rows_and_lines_that_were_there_stay_what_they_are(show: Callable[..., Stage]) -> None:
    """Also in the block in which the part goes on where the stream stood, and for a page that had to ask again."""
    talk = Talk()
    talk.me("Hello")
    talk.turn(1)
    stage = show(talk)
    page, drawings = stage.page, Drawings("en")
    text = "```\none\ntwo\n```\n\n- first **a**\n- second\n- third\n- fourth and last"
    sent = deltas_of(text, [12] * 20)
    for piece in sent[:4]:
        stage.push(frame_of(drawings, piece) | {"into": talk.thread.container(1)})
    stage.settle()
    page.evaluate(
        "window.item = document.querySelector('.b-live__text li');"
        "window.code = document.querySelector('pre code').firstChild"
    )
    assert page.evaluate("item.textContent") == "first a"
    page.evaluate(SELECT, "two")
    # One piece is lost on its way.
    for piece in sent[5:]:
        stage.push({**piece.as_json(), "type": "delta", "into": talk.thread.container(1)})
    stage.wait_for("hello")
    stage.row(talk.part("response", text, live=LIVE))

    assert page.evaluate("item.isConnected && code.isConnected && String(getSelection())") == "two"
    assert page.evaluate("[...document.querySelectorAll('.b-turn li')].map(item => item.textContent)") == [
        "first a", "second", "third", "fourth and last",
    ]  # fmt: skip


def test_text_that_streams_is_only_ever_added_to(show: Callable[..., Stage]) -> None:
    """However long it is; what comes twice, as after a cut, is not written again."""
    talk = Talk()
    talk.me("Hello")
    talk.turn(1)
    stage = show(talk)
    page, into = stage.page, talk.thread.container(1)
    told = [
        ("Grüße 😀 a", 0),
        (" and b", 9),
        ("Grüße 😀 a and b", 0),
        ("b, c", 14),
        ("b", 14),
        (" 😀", 18),
        (".", 20),
    ]
    stage.push(delta(*told[0]).as_json() | {"type": "delta", "into": into})
    stage.settle()
    page.evaluate(
        "window.node = document.querySelector('.b-live__text [data-text]').firstChild; window.writes = [];"
        "for (const name of ['appendData', 'replaceData', 'insertData', 'deleteData'])"
        "  node[name] = (...given) => {"
        "    writes.push([name, given.at(-1)]); CharacterData.prototype[name].apply(node, given); }; null"
    )
    page.evaluate(SELECT, "Grüße")
    for piece in told[1:]:
        stage.push(delta(*piece).as_json() | {"type": "delta", "into": into})
    stage.settle()

    assert page.evaluate("node.data") == "Grüße 😀 a and b, c 😀."
    assert page.evaluate("writes.filter(([, text]) => text)") == [
        ["appendData", text] for text in (" and b", ", c", " 😀", ".")
    ]
    assert page.evaluate("String(getSelection())") == "Grüße"


def test_more_of_a_long_answer_touches_its_last_piece_only(show: Callable[..., Stage]) -> None:
    talk = Talk()
    talk.me("Hello")
    talk.turn(1)
    stage = show(talk)
    page, drawings, into = stage.page, Drawings("en"), talk.thread.container(1)
    text = "".join(f"Line {n} of an answer, which goes on and on.\n" for n in range(2_100))
    assert 90_000 < len(text) < 100_000

    async def drawn() -> list[JsonObject]:
        told = [PlacedDelta(piece, into) for piece in deltas_of(text, [900] * 200)]
        return [json.loads(await drawings.frame(piece)) for piece in told]

    # The browser's own loop runs in this thread.
    with ThreadPoolExecutor(1) as elsewhere:
        first, *others = elsewhere.submit(asyncio.run, drawn()).result()
    stage.push(first)
    stage.settle()
    page.evaluate(
        "window.changed = new Set();"
        "new MutationObserver(all => { for (const { target, addedNodes } of all)"
        "  for (const node of addedNodes.length ? addedNodes : [target]) changed.add(node.textContent.length); })"
        ".observe(document.querySelector('.b-live__text'), { characterData: true, childList: true, subtree: true })"
    )
    for frame in others:
        stage.push(frame)
    stage.settle()
    # Up to there it may be Markdown.
    assert page.evaluate("Math.max(...changed)") <= 8_900
    assert page.locator(".b-live__text > .b-plain").count() > 40
    assert page.locator(".b-live__text").text_content() == text
    page.evaluate(SELECT, "Line 500 of")
    page.evaluate(f"window.before = {BLOCKS}.slice(0, -1)")

    stage.row(talk.part("response", text, live=LIVE))

    expect(page.locator(f"#v{LIVE}")).to_have_count(0)
    assert page.evaluate(f"before.every((block, at) => block === {BLOCKS}[at])")
    assert page.evaluate("String(getSelection())") == "Line 500 of"
    expect(page.locator(".b-turn .b-cut")).to_have_text("Shown without formatting: it is too long for that.")
