"""A conversation for tests: rows made by hand, applied to a thread, a real engine and a page that follows along."""

from __future__ import annotations

import copy
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from xml.etree import ElementTree as ET

import html5lib

from a2ui import BEACH_CATALOG, BEACH_CATALOG_1_0, Engine, EngineOptions, Limits, More
from a2ui.ops import Op
from envelopes.protocol.rows import Row
from envelopes.protocol.surfaces import messages_of
from envelopes.transports.panel.presenter.approval import ApprovalView
from envelopes.transports.panel.presenter.thread import PageContext, Thread

CATALOG = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"
START = datetime(2026, 3, 12, 8, 40, tzinfo=UTC)
OWN = (BEACH_CATALOG, BEACH_CATALOG_1_0)
ENGINE = Engine(EngineOptions(own=OWN))
PARTIAL = ("<hx-partial ", "</hx-partial>")


_AROUND = {
    "<tr": ("table", "tbody"),
    "<td": ("table", "tbody", "tr"),
    "<th": ("table", "tbody", "tr"),
}


def parse(html: str) -> list[ET.Element]:
    # A parser knows rows and cells inside of tables only.
    around = next((tags for begin, tags in _AROUND.items() if html.startswith(begin)), ("main",))
    opened, closed = (
        "".join(f"<{slash}{tag}>" for tag in tags) for slash, tags in (("", around), ("/", around[::-1]))
    )
    tree = html5lib.parse(
        f"<!doctype html><title>t</title>{opened}{html}{closed}", namespaceHTMLElements=False
    )
    found = tree.find(f".//{around[-1]}")
    assert found is not None
    return list(found)


class Page:
    """What a browser would hold: starts from a first page load and takes operations; unknown ids are ignored."""

    def __init__(self, html: str = "") -> None:
        self.root = ET.Element("main")
        self.root.extend(parse('<div id="empty"></div>' if not html else ""))
        self.root.extend(parse(html))
        self.root.extend(parse('<div id="tail"></div>'))

    def find(self, dom_id: str) -> ET.Element | None:
        found = [element for element in self.root.iter() if element.get("id") == dom_id]
        assert len(found) <= 1, f"{len(found)} elements have the id {dom_id}"
        return found[0] if found else None

    def _parent(self, element: ET.Element) -> ET.Element:
        return next(parent for parent in self.root.iter() if element in list(parent))

    def apply(self, ops: list[Op]) -> None:
        for name, *rest in json.loads(json.dumps(ops)):
            getattr(self, f"_{name}")(*rest)

    def _d(self, dom_id: str) -> None:
        element = self.find(dom_id)
        if element is not None:
            self._parent(element).remove(element)

    def _t(self, dom_id: str, text: str) -> None:
        element = self.find(dom_id)
        if element is not None:
            for child in list(element):
                element.remove(child)
            element.text = text

    def _r(self, dom_id: str, html: str) -> None:
        element = self.find(dom_id)
        if element is not None:
            parent, made = self._parent(element), parse(html)
            assert [child.get("id") for child in made] == [dom_id]
            at = list(parent).index(element)
            parent[at : at + 1] = made

    def _i(self, ref: str, where: str, html: str) -> None:
        element = self.find(ref)
        assert element is not None, ref
        if where in ("beforeend", "afterbegin"):
            for at, child in enumerate(parse(html)):
                element.insert(at if where == "afterbegin" else len(element), child)
            return
        parent = self._parent(element)
        at = list(parent).index(element) + (where == "afterend")
        parent[at:at] = parse(html)

    def _m(self, dom_id: str, ref: str) -> None:
        element = self.find(dom_id)
        assert element is not None
        self._parent(element).remove(element)
        into = self.find(ref.removeprefix("^"))
        assert into is not None
        if ref.startswith("^"):
            into.insert(0, element)
        else:
            parent = self._parent(into)
            parent.insert(list(parent).index(into) + 1, element)

    def _x(self, html: str) -> None:
        assert html.startswith(PARTIAL[0])
        assert html.endswith(PARTIAL[1])
        inside = html[html.index(">") + 1 : -len(PARTIAL[1])]
        made = parse(inside)
        self._r(made[0].get("id") or "", inside)

    def markup(self) -> str:
        """Canonical text, to compare, wherever one page of earlier messages ends and the next one begins."""
        root = copy.deepcopy(self.root)
        for page in root.findall("div[@class='b-page']"):
            at = list(root).index(page)
            root[at : at + 1] = list(page)
        return ET.tostring(root, encoding="unicode")

    def text(self) -> str:
        return " ".join(" ".join(self.root.itertext()).split())

    def select(self, class_name: str, root: ET.Element | None = None) -> list[ET.Element]:
        start = self.root if root is None else root
        return [element for element in start.iter() if class_name in (element.get("class") or "").split()]


class Talk:
    """Rows in, page out. Every method adds one row. ``follows``: whether ``page`` follows along, which costs the more
    the longer it is; else it stays as it was at first."""

    def __init__(self, *, limits: Limits | None = None, follows: bool = True, **context: Any) -> None:
        given = {"session_id": "s", "actors": {"sally": "Sally"}, "timezone": "Europe/Berlin"} | context
        self.context = PageContext(**given)
        self.thread = Thread(self.context)
        engine = ENGINE if limits is None else Engine(EngineOptions(own=OWN, limits=limits))
        self.surfaces = engine.surfaces()
        self.page = Page()
        self.follows = follows
        self.rows: list[Row] = []
        self.settled: set[int] = set()
        self.at = START
        # A view that fails is caught and told on the page; a test that means it says so.
        self.may_fail = False

    def row(
        self,
        kind: str,
        data: dict[str, Any],
        part_type: str = "",
        turn: int = 0,
        actor: str = "",
        after: float = 1,
    ) -> list[Op]:
        self.at += timedelta(seconds=after)
        row = Row(len(self.rows) + 1, kind, self.at, data, part_type, actor, turn)
        self.rows.append(row)
        if kind == "part" and part_type == "a2ui-surface":
            try:
                messages = messages_of(data["part"].get("data"))
            except Exception:  # noqa: BLE001 - the runtime would have refused it; the thread has to bear it
                messages = []
            for message in messages:
                self.surfaces.apply(message, owner=actor)
        if kind == "edit":
            self.surfaces.patch(data["owner"], data["surfaceId"], data["ops"])
        if kind == "show":
            self.surfaces.apply_more(More(data["owner"], data["surfaceId"], data["target"], data["count"]))
        ops = self.thread.apply(row, self.surfaces.flush())
        assert self.may_fail or "This cannot be shown." not in json.dumps(ops)
        if self.follows:
            self.page.apply(ops)
        return ops

    def me(self, text: str, **more: Any) -> list[Op]:
        return self.row("message", {"text": text, "name": "Ines", **more})

    def turn(self, number: int, status: str = "running", **more: Any) -> list[Op]:
        return self.row("turn", {"status": status, "number": number, **more}, turn=number, actor="sally")

    def part(
        self,
        part_type: str,
        text: str | None = None,
        data: Any = None,
        *,
        turn: int = 1,
        live: str = "",
        own_card: bool = False,
        **metadata: Any,
    ) -> list[Op]:
        part: dict[str, Any] = {"metadata": {"partType": part_type, **metadata}}
        if text is not None:
            part["text"] = text
        if data is not None:
            part["data"] = data
        row: dict[str, Any] = {"part": part, "turnState": "awaiting"}
        if live:
            row["live"] = live
        if own_card:
            row["ownCard"] = True
        if turn in self.settled:
            row["late"] = True
        return self.row("part", row, part_type, turn, "sally")

    def ask(self, approval: str = "ap", *, turn: int = 1, args: Any = None, **metadata: Any) -> list[Op]:
        data = {
            "approvalId": approval,
            "toolName": "flights.book",
            "toolCallId": f"call-{approval}",
            "args": {"flight": "NV 418"} if args is None else args,
            "handler": "sally",
            "turn": "t",
            "session": "s",
            "expiresAt": metadata.pop("expires", "2026-03-12T09:00:00Z"),
        }
        if data["expiresAt"] is None:
            del data["expiresAt"]
        about = {"digest": "9f2c41ab" + 56 * "0", "question": "Buy one ticket?", "risk": "high"} | metadata
        return self.part("approval-request", data=data, turn=turn, **about)

    def decide(
        self, decision: str, approval: str = "ap", *, turn: int = 1, reason: str | None = None, **by: Any
    ) -> list[Op]:
        at = "2026-03-12T08:50:00Z"
        data = {"approvalId": approval, "decision": decision, "decidedBy": "user:1", "decidedAt": at}
        if reason is not None:
            data["reason"] = reason
        return self.part(
            "approval-response", data=data, turn=turn, **({"decidedByName": "you", "source": "chat"} | by)
        )

    def tool(self, state: str, approval: str = "ap", *, turn: int = 1, **more: Any) -> list[Op]:
        data = {
            "callId": f"call-{approval}",
            "name": "flights.book",
            "state": state,
            "approvalId": approval,
            **more,
        }
        return self.row("tool", data, turn=turn, actor="sally")

    def settle(self, turn: int = 1, how: str = "complete", **more: Any) -> list[Op]:
        self.settled.add(turn)
        return self.row("settled", {"turnState": how, "finalizedBy": how, **more}, turn=turn, actor="sally")

    def html(self) -> str:
        return self.thread.html(self.surfaces)

    @property
    def pending(self) -> list[ApprovalView]:
        return pending(self.thread)

    def reloaded(self) -> Page:
        """The page after a reload; what the operations have built must equal it."""
        page = Page(self.html())
        assert page.markup() == self.page.markup()
        return page

    def card(self, approval: str = "ap") -> ET.Element:
        for element in self.page.select("b-approval"):
            if (
                approval in ET.tostring(element, encoding="unicode")
                or len(self.page.select("b-approval")) == 1
            ):
                return element
        raise AssertionError(f"no card for {approval}")


def pending(thread: Thread) -> list[ApprovalView]:
    """The approvals that wait for a decision."""
    return [
        part
        for segment in thread.model.segments
        for part in segment.parts
        if isinstance(part, ApprovalView) and part.state == "pending"
    ]


def words(element: ET.Element) -> str:
    """The text of an element, white space collapsed."""
    return " ".join(" ".join(element.itertext()).split())


def surface(surface_id: str, *components: dict[str, Any], model: Any = None) -> dict[str, Any]:
    """The data of an a2ui-surface part that creates a surface."""
    created = {"surfaceId": surface_id, "catalogId": CATALOG}
    messages: list[dict[str, Any]] = [{"version": "v0.9", "createSurface": created}]
    if model is not None:
        messages.append({"version": "v0.9", "updateDataModel": {"surfaceId": surface_id, "value": model}})
    parts = list(components) or [{"id": "root", "component": "Text", "text": {"path": "/n"}}]
    messages.append({"version": "v0.9", "updateComponents": {"surfaceId": surface_id, "components": parts}})
    return {"messages": messages}


def update(surface_id: str, path: str, value: Any) -> dict[str, Any]:
    return {"version": "v0.9", "updateDataModel": {"surfaceId": surface_id, "path": path, "value": value}}


def delete(surface_id: str) -> dict[str, Any]:
    return {"version": "v0.9", "deleteSurface": {"surfaceId": surface_id}}
