"""A page in memory that keeps the text of its elements, for thousands of programs: what it shows is compared as text.

Fragments (D41) are applied one by one. At no moment may two elements have one id, and whatever a fragment names must
be there. `tests.a2ui.page` does the same with the parser of browsers, which takes fifty times as long.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from a2ui.safety.text import escape

_PIECE = re.compile(r'<(/?)([a-z][a-z0-9-]*)((?:\s+[A-Za-z0-9:-]+(?:="[^"]*")?)*)\s*(/?)>|([^<]+)')
_ID = re.compile(r'\sid="([^"]*)"')
_VOID = frozenset({"br", "hr", "img", "input"})
_PARTIAL = re.compile(
    r'<hx-partial hx-target="#([A-Za-z0-9_-]+)" hx-swap="outerMorph">(.*)</hx-partial>', re.DOTALL
)


class Element:
    """One element: its opening tag as it was written, and what is inside."""

    __slots__ = ("end", "id", "inside", "opened", "parent")

    def __init__(self, opened: str, end: str) -> None:
        self.opened = opened
        self.end = end
        found = _ID.search(opened)
        self.id = found[1] if found else ""
        self.inside: list[Element | str] = []
        self.parent: Element | None = None

    def put(self, at: int, nodes: list[Element | str]) -> None:
        self.inside[at:at] = nodes
        for node in nodes:
            if isinstance(node, Element):
                node.parent = self

    def elements(self) -> Iterator[Element]:
        """Itself and all below."""
        yield self
        for node in self.inside:
            if isinstance(node, Element):
                yield from node.elements()

    def html(self) -> str:
        inside = "".join([node if isinstance(node, str) else node.html() for node in self.inside])
        return f"{self.opened}{inside}{self.end}"


def parse(html: str) -> list[Element | str]:
    """The nodes of a fragment. Fails for what is not closed, or closed twice."""
    top = Element("", "")
    at, stack = 0, [top]
    while at < len(html):
        piece = _PIECE.match(html, at)
        assert piece is not None, html[at : at + 80]
        at = piece.end()
        closing, tag, _, empty, text = piece.groups()
        if text is not None:
            stack[-1].put(len(stack[-1].inside), [text])
        elif closing:
            assert stack[-1].end == f"</{tag}>", html[max(0, at - 200) : at]
            stack.pop()
        else:
            hollow = bool(empty) or tag in _VOID
            element = Element(piece[0], "" if hollow else f"</{tag}>")
            stack[-1].put(len(stack[-1].inside), [element])
            if not hollow:
                stack.append(element)
    assert stack == [top], [element.opened for element in stack]
    for node in top.inside:
        if isinstance(node, Element):
            node.parent = None
    return top.inside


class Page:
    """The elements with the surfaces of one session."""

    def __init__(self) -> None:
        self._root = Element("", "")
        self._by_id: dict[str, Element] = {}

    @property
    def html(self) -> str:
        return self._root.html()

    def marked(self, mark: str) -> list[str]:
        """The ids of the elements that have the mark in their opening tag."""
        return [element.id for element in self._root.elements() if element.id and mark in element.opened]

    def apply_changes(self, changes: Iterable[Any]) -> None:
        """What `SurfaceSet.flush()` returned."""
        for change in changes:
            if change.kind == "created":
                self._put(self._root, len(self._root.inside), parse(change.html))
            elif change.kind == "deleted":
                self._cut(self._find(change.dom_id))
            else:
                for op in change.ops:
                    self._apply(op)

    def _apply(self, op: list[str]) -> None:
        kind = op[0]
        if kind == "t":
            element = self._find(op[1])
            for inside in list(element.elements())[1:]:
                self._by_id.pop(inside.id, None)
            element.inside = [escape(op[2])] if op[2] else []
        elif kind == "r":
            self._replace(op[1], op[2])
        elif kind == "x":
            found = _PARTIAL.fullmatch(op[1])
            assert found is not None, op
            self._replace(found[1], found[2])
        elif kind == "d":
            self._cut(self._find(op[1]))
        elif kind == "m":
            element = self._find(op[1])
            self._cut(element)
            if op[2].startswith("^"):
                self._put(self._find(op[2][1:]), 0, [element])
            else:
                self._behind(op[2], [element])
        else:
            assert kind == "i", op
            self._insert(op[1], op[2], parse(op[3]))

    def _insert(self, ref: str, where: str, nodes: list[Element | str]) -> None:
        if where == "afterend":
            self._behind(ref, nodes)
            return
        assert where in ("afterbegin", "beforeend"), where
        parent = self._find(ref)
        self._put(parent, 0 if where == "afterbegin" else len(parent.inside), nodes)

    def _behind(self, ref: str, nodes: list[Element | str]) -> None:
        neighbour = self._find(ref)
        parent = neighbour.parent
        assert parent is not None
        self._put(parent, parent.inside.index(neighbour) + 1, nodes)

    def _replace(self, dom_id: str, html: str) -> None:
        nodes = parse(html)
        assert [node.id if isinstance(node, Element) else node for node in nodes] == [dom_id], (dom_id, html)
        old = self._find(dom_id)
        parent = old.parent
        assert parent is not None
        at = parent.inside.index(old)
        self._cut(old)
        self._put(parent, at, nodes)

    def _put(self, parent: Element, at: int, nodes: list[Element | str]) -> None:
        for node in nodes:
            for element in node.elements() if isinstance(node, Element) else ():
                if element.id:
                    assert element.id not in self._by_id, f"two elements have the id {element.id}"
                    self._by_id[element.id] = element
        parent.put(at, nodes)

    def _cut(self, element: Element) -> None:
        parent = element.parent
        assert parent is not None
        parent.inside.remove(element)
        for inside in element.elements():
            if inside.id:
                del self._by_id[inside.id]

    def _find(self, dom_id: str) -> Element:
        assert dom_id in self._by_id, f"there is no element with the id {dom_id}"
        return self._by_id[dom_id]
