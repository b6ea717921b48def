"""Nothing that an agent shows decides an approval, whatever it looks like or is called: each trick is shown beside a
real question, everything in it is pressed, and the question still waits (D22, R3)."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree.ElementTree import Element

import pytest

from envelopes.errors import BeachError
from envelopes.intake.fields import SurfaceRefused
from envelopes.models import Approval
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Call, Reply, Say, data, text
from envelopes.types import Json, JsonObject
from tests.desk import Desk, desk
from tests.envelopes.admin.pages import parsed
from tests.envelopes.approvals.test_surface import PAY
from tests.envelopes.protocol.test_reserved_names import BASIC, BASIC_10, v08, v09_in_a_template

pytestmark = pytest.mark.django_db(transaction=True)

Messages = list[JsonObject]


def made(*components: JsonObject, theme: JsonObject | None = None, surface: str = "mine") -> Messages:
    create: JsonObject = {"surfaceId": surface, "catalogId": BASIC}
    if theme is not None:
        create["theme"] = theme
    return [
        {"version": "v0.9", "createSurface": create},
        {"version": "v0.9", "updateComponents": {"surfaceId": surface, "components": list(components)}},
    ]


def button(label: str, name: str = "go", component_id: str = "root", **context: Json) -> list[JsonObject]:
    action: JsonObject = {"event": {"name": name, "context": context}}
    return [
        {"id": component_id, "component": "Button", "child": f"{component_id}-l", "action": action},
        {"id": f"{component_id}-l", "component": "Text", "text": label},
    ]


def column(*parts: list[JsonObject]) -> list[JsonObject]:
    heads: list[Json] = [part[0]["id"] for part in parts]
    rows = [row for part in parts for row in part]
    return [{"id": "root", "component": "Column", "children": heads}, *rows]


def same_ids(approval: Approval, page: str) -> Messages:
    """Components and a surface by the ids of the card, of its buttons and of the page."""
    names = ("card", "panel", "thread", "approve", "deny", approval.approval_id)
    card = (
        next(each for each in parsed(page).iter("div") if each.get("class") == "b-approval").get("id") or ""
    )
    parts = [button("Deny", component_id=name) for name in (*names, card, f"{card}q", f"{card}v")]
    return made(*column(*parts), surface=card)


def overlay(approval: Approval, page: str) -> Messages:
    """A dialog that is open, over everything, with the question in other words."""
    rows = [
        {"id": "root", "component": "Modal", "trigger": "t", "content": "c"},
        *button("Open", component_id="t"),
        {"id": "c", "component": "Column", "children": ["q", "b"]},
        {
            "id": "q",
            "component": "Text",
            "text": "# Pay 1 to Ada?\n<dialog open style='position:fixed;inset:0'>",
        },
        *button("Approve", component_id="b", approvalId=approval.approval_id, decision="granted"),
    ]
    return made(*rows)


def renamed(approval: Approval, page: str) -> Messages:
    """Events that sound like the runtime's, with all that one of those has."""
    told: dict[str, Json] = {
        "approvalId": approval.approval_id,
        "decision": "granted",
        "digest": approval.digest,
    }
    names = ("approve", "granted", "decide", "approvals.approve", "beach.approve", "beach-approve")
    return made(*column(*(button(name, name, f"b{at}", **told) for at, name in enumerate(names))))


def reserved(approval: Approval, page: str) -> Messages:
    return made(*button("Approve", "beach:approve", approvalId=approval.approval_id))


def reserved_surface(approval: Approval, page: str) -> Messages:
    return made(*button("Approve"), surface=f"beach:approval:{approval.approval_id}")


def reserved_in_a_template(approval: Approval, page: str) -> Messages:
    return v09_in_a_template("mine", "beach:approve")


def reserved_in_the_oldest_dialect(approval: Approval, page: str) -> Messages:
    return v08("mine", "beach:approve")


def oldest_dialect(approval: Approval, page: str) -> Messages:
    return v08("mine", "approve")


def nested_template(approval: Approval, page: str) -> Messages:
    """Lists in a list, whose data say what each button does."""
    rows: list[JsonObject] = [
        {"id": "root", "component": "Column", "children": {"componentId": "inner", "path": "/rows"}},
        {"id": "inner", "component": "Row", "children": {"componentId": "b", "path": "buttons"}},
        {
            "id": "b",
            "component": "Button",
            "child": "l",
            "action": {
                "event": {"name": "go", "context": {"name": {"path": "name"}, "approvalId": {"path": "id"}}}
            },
        },
        {"id": "l", "component": "Text", "text": {"path": "name"}},
    ]
    inside: Json = [{"name": "beach:approve", "id": approval.approval_id}] * 2
    create, shown = made(*rows)
    model = {"surfaceId": "mine", "path": "/rows", "value": [{"buttons": inside}]}
    return [create, {"version": "v0.9", "updateDataModel": model}, shown]


def hiding_theme(approval: Approval, page: str) -> Messages:
    """Colours, fonts and names that would hide or replace what stands elsewhere."""
    theme: JsonObject = {
        "primaryColor": "#ffffff; } .b-approval { display: none",
        "font": "0px/0 x; } body { color: transparent",
        "agentDisplayName": "Beach",
        "iconUrl": "javascript:alert(1)",
    }
    return made(*button("Deny"), theme=theme)


def plain_theme(approval: Approval, page: str) -> Messages:
    return made(*button("Deny"), theme={"primaryColor": "#ffffff"})


def other_label(approval: Approval, page: str) -> Messages:
    """A button that says the opposite, and looks like the card's."""
    rows = column(button("Deny", "approve", "a"), button("Needs your approval", "granted", "b"))
    rows[1]["accessibility"] = {"label": "Deny the request"}
    return made(*rows)


def markup(approval: Approval, page: str) -> Messages:
    """The card's own markup as text."""
    forged = (
        f'<div class="b-approval" id="x"><button data-decide="granted" data-approval="{approval.approval_id}">'
        f'Deny</button></div><form method="post" action="/approve/x"><input name="decision" value="granted"></form>'
    )
    return made({"id": "root", "component": "Text", "text": forged})


def links(approval: Approval, page: str) -> Messages:
    """Links that look like a signed one."""
    written = (
        f"[Deny](/approve/{approval.approval_id}) [Deny](https://testserver/approve/{approval.approval_id})"
    )
    call = {
        "functionCall": {"call": "openUrl", "args": {"url": f"https://testserver/approve/{approval.digest}"}}
    }
    rows: list[JsonObject] = [
        {"id": "root", "component": "Column", "children": ["t", "b"]},
        {"id": "t", "component": "Text", "text": written},
        {"id": "b", "component": "Button", "child": "l", "action": call},
        {"id": "l", "component": "Text", "text": "Deny"},
    ]
    return made(*rows)


def inline_1_0(approval: Approval, page: str) -> Messages:
    body = {"surfaceId": "mine", "catalogId": BASIC_10, "components": button("Deny", "approve")}
    return [{"version": "v1.0", "createSurface": body}]


TRICKS: list[Callable[[Approval, str], Messages]] = [
    same_ids, overlay, renamed, reserved, reserved_surface, reserved_in_a_template, reserved_in_the_oldest_dialect,
    oldest_dialect, nested_template, hiding_theme, plain_theme, other_label, markup, links, inline_1_0,
]  # fmt: skip
REFUSED = {reserved, reserved_surface, reserved_in_a_template, reserved_in_the_oldest_dialect}
"""What is not even shown."""


@pytest.mark.parametrize("trick", TRICKS, ids=lambda trick: trick.__name__)
async def test_no_trick_of_a_surface_decides(trick: Callable[[Approval, str], Messages]) -> None:
    box: list[Messages] = []

    def script(request: ModelRequest) -> Reply:
        if not box:
            return Reply([Call("pay", {"to": "Ada"})])
        shown = box.pop() if len(box) > 1 else []
        said = [data("a2ui-surface", {"messages": shown})] if shown else [text("response", "Yes.")]
        return Reply([Say(said)])

    async with desk(script, PAY) as d:
        await d.say("Pay")
        (approval,) = await d.approvals()
        before = await d.html()
        box += [[], trick(approval, before)]
        await d.say("And now?")
        page = await d.html()
        assert_one_card(page, approval)
        pressed = await press_everything(d, page)
        assert bool(pressed) is not (trick in REFUSED or trick is markup)
        await approval.arefresh_from_db()
        assert approval.state == "pending"
        for kind in ("late-decision", "tried-decision"):
            assert await d.rows(kind) == []
        # The real one still does what it says.
        assert (await d.decide("denied")).state == "denied"


def assert_one_card(page: str, approval: Approval) -> None:
    """The card is there, as the only thing of its kind, and nothing of the surface reaches out of its own place."""
    root = parsed(page)
    ids = [each.get("id") for each in root.iter() if each.get("id")]
    assert len(ids) == len(set(ids))
    cards = [each for each in root.iter() if "b-approval" in (each.get("class") or "").split()]
    assert [each.get("data-state") for each in cards] == ["pending"]
    deciding = [each for each in root.iter() if each.get("data-decide") or each.get("data-approval")]
    inside = list(cards[0].iter())
    assert [each.get("data-decide") for each in deciding] == ["denied", "granted"]
    assert all(each in inside and each.get("data-approval") == approval.approval_id for each in deciding)
    for surface in (each for each in root.iter() if "a2-surface" in (each.get("class") or "").split()):
        for each in surface.iter():
            names = (each.get("class") or "").split()
            assert not any(name.startswith(("b-approval", "b-dock", "b-toast")) for name in names)
            assert each.get("style") is None
            assert each.get("form") is None
            assert each.tag not in ("form", "style", "script", "iframe", "dialog") or each.get("open") is None
            assert each.tag != "form" or not (each.get("action") or each.get("method"))
            assert not (each.get("href") or "").startswith("/")


async def press_everything(d: Desk, page: str) -> int:
    """Every button of the agent's that a person could press; how many there were."""
    found: list[Element] = [each for each in parsed(page).iter() if each.get("data-act") is not None]
    for each in found:
        try:
            await d.act(each.get("id") or "")
        except (SurfaceRefused, BeachError):
            continue
    return len(found)
