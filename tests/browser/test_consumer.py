"""An application of somebody else, in the browser and over the doors of programs; then a site without it."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable
from contextlib import closing
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.conftest import PLANNER, Desk
from tests.browser.test_main_job import say, settled
from tests.cards import agent_card
from tests.liveserver import Server

CARD = agent_card("planner.whisper", "a2ui-surface")


def _ask(server: Server, token: str, method: str, path: str, body: object = None) -> Any:
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)) as connection:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        return json.loads(connection.getresponse().read())


def _events(server: Server, token: str, session: str) -> list[Any]:
    """What is there of a conversation, as parts."""
    found = []
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)) as connection:
        connection.request(
            "GET", f"/api/sessions/{session}/parts", headers={"Authorization": f"Bearer {token}"}
        )
        with closing(connection.getresponse()) as stream:
            name = ""
            while name != "upToDate":
                line = stream.readline().decode().rstrip("\n")
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                elif line.startswith("data: ") and name == "partReceived":
                    found.append(json.loads(line.removeprefix("data: "))["part"])
    return found


def _told(server: Server, page: Page, session: str, lines: int) -> list[str]:
    """The first lines that the application's own transport brings to whoever owns the page."""
    cookies = "; ".join(f"{one['name']}={one['value']}" for one in page.context.cookies())
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)) as connection:
        connection.request("GET", f"/lines/{session}", headers={"Cookie": cookies})
        answer = connection.getresponse()
        assert answer.status == 200
        with closing(answer):
            return [answer.readline().decode().rstrip("\n").split(" ", 1)[1] for _ in range(lines)]


def _kinds(parts: list[Any]) -> list[str]:
    return [part["metadata"]["partType"] for part in parts]


def test_what_an_application_registers_works_everywhere_and_sessions_go_on_without_it(
    make_server: Callable[..., Server], desk: Desk, page: Page, tmp_path: Any
) -> None:
    server = make_server(environ=PLANNER)
    page.goto(f"{server.url}/")
    expect(page.get_by_role("heading", name="Where do you dream of?")).to_be_visible()
    say(page, "Plan a trip")
    settled(page)

    itinerary = page.locator("planner-itinerary")
    expect(itinerary.locator("li")).to_have_text(["Corfu", "Paxos", "Parga <b>"])
    expect(itinerary.locator("p")).to_have_text("3 stops, the last is Parga <b>")
    expect(page.locator("#thread")).not_to_contain_text("margin")
    page.reload()
    expect(itinerary.locator("p")).to_have_text("3 stops, the last is Parga <b>")
    costs = page.locator(".b-surface").filter(has_text="in all")
    expect(costs).to_contain_text("€90.00 in all")
    costs.get_by_role("button", name="Agree").click()
    settled(page)
    expect(costs).to_have_count(1)
    expect(costs).to_contain_text("Rooms: €400.00")
    expect(costs).to_contain_text("€490.00 in all")
    address = page.url

    assert _told(server, page, address.rstrip("/").rsplit("/", 1)[-1], 2) == [
        "Planning.",
        "Here is your itinerary.",
    ]
    assert page.context.request.get(f"{server.url}/lines/nobodys").status == 404

    card = tmp_path / "card.json"
    card.write_text(json.dumps(CARD))
    plain = server.manage("beach", "peer", "add", "plain", "--scopes", "chat,read").strip()
    whisper = server.manage(
        "beach", "peer", "add", "whisper", "--scopes", "chat,read", "--card", str(card)
    ).strip()
    for token, streamed, drawn in ((plain, [], []), (whisper, ["planner.whisper"], ["a2ui-surface"])):
        session = _ask(server, token, "POST", "/api/sessions", {})["id"]
        envelope = _ask(server, token, "POST", f"/api/sessions/{session}/messages", {"text": "Plan a trip"})
        # It settled in a state of the application's own.
        assert envelope["meta"]["finalizedBy"] == "complete"
        assert _kinds(envelope["parts"]) == [
            "domain-data",
            "planner.itinerary",
            "domain-data",
            "setState",
            "response",
            *drawn,
        ]
        assert envelope["parts"][0]["metadata"]["slotKey"] == "planner.trip"
        assert _kinds(_events(server, token, session)) == [
            "ack",
            "domain-data",
            "planner.itinerary",
            *streamed,
            "domain-data",
            "setState",
            "response",
            *drawn,
        ]
    pressed = {"surfaceId": "slot:costs", "componentId": "agree"}
    agreed = _ask(server, whisper, "POST", f"/api/sessions/{session}/actions", pressed)["parts"]
    assert _kinds(agreed) == ["domain-data", "response", "a2ui-surface"]
    assert [[*message][1] for message in agreed[-1]["data"]["messages"]] == ["updateDataModel"] * 2

    desk.allow("WebSocket|Failed to (load|fetch)|net::ERR")
    server.stop()
    server.environ.pop("DJANGO_SETTINGS_MODULE")
    server.start()
    page.goto(address)
    expect(page.locator("#thread")).to_contain_text("Here is your itinerary.")
    # Of an old row whose type nobody has registered nobody can say who may get it (D4).
    expect(page.locator("planner-itinerary")).to_have_count(0)
    # What its template has drawn is a surface like any other.
    expect(costs).to_contain_text("€490.00 in all")
    say(page, "Fly me to Atlantis")
    settled(page)
    expect(page.locator("#thread")).to_contain_text("not part of this site any more")
