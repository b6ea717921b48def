"""A stand-in for the browser: applies fragments (D41) to a parsed page, strictly.

Every id must exist where a fragment names it and be unique afterwards. `markup` is a canonical text of the page,
to compare with that of a fresh rendering.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from xml.etree import ElementTree as ET

import html5lib

_PARTIAL = re.compile(
    r'<hx-partial hx-target="#([A-Za-z0-9_-]+)" hx-swap="outerMorph">(.*)</hx-partial>', re.DOTALL
)


_STARTS = re.compile(r"<(\w+)")
_WITHIN = {"tr": "tbody", "td": "tr", "th": "tr", "tbody": "table"}
_IN_SVG = frozenset({"rect", "circle", "path", "text", "g"})


def parse(html: str) -> list[ET.Element]:
    """The elements of a fragment, as children of a div, or of what they have to stand in."""
    found = _STARTS.match(html)
    if found and found[1] in _WITHIN:
        return list(html5lib.parseFragment(html, container=_WITHIN[found[1]], namespaceHTMLElements=False))
    if found and found[1] in _IN_SVG:
        return list(html5lib.parseFragment(f"<svg>{html}</svg>", namespaceHTMLElements=False)[0])
    tree = html5lib.parse(f"<!doctype html><title>t</title><main>{html}</main>", namespaceHTMLElements=False)
    main = tree.find(".//main")
    assert main is not None
    return list(main)


class Page:
    """The elements with the surfaces of one session."""

    def __init__(self) -> None:
        self.root = ET.Element("main")

    def apply_changes(self, changes: Iterable[Any]) -> None:
        """What `SurfaceSet.flush()` returned."""
        for change in changes:
            if change.kind == "created":
                self.root.extend(parse(change.html))
            elif change.kind == "deleted":
                self._remove(change.dom_id)
            else:
                self.apply(change.ops)

    def apply(self, ops: Iterable[list[str]]) -> None:
        for op in ops:
            self._apply(op)
            self.check_ids()

    def _apply(self, op: list[str]) -> None:
        kind = op[0]
        if kind == "t":
            element = self.find(op[1])
            tail = element.tail
            attributes = dict(element.attrib)
            element.clear()
            element.attrib.update(attributes)
            element.text, element.tail = op[2], tail
        elif kind == "r":
            self._replace(op[1], op[2])
        elif kind == "x":
            found = _PARTIAL.fullmatch(op[1])
            assert found is not None, op
            self._replace(found[1], found[2])
        elif kind == "d":
            self._remove(op[1])
        elif kind == "m":
            element = self.find(op[1])
            self._parent(element).remove(element)
            if op[2].startswith("^"):
                self.find(op[2][1:]).insert(0, element)
            else:
                self._after(op[2], [element])
        else:
            self._insert(op)

    def _insert(self, op: list[str]) -> None:
        assert op[0] == "i", op
        _, ref, where, html = op
        elements = parse(html)
        if where == "afterend":
            self._after(ref, elements)
        elif where == "afterbegin":
            for element in reversed(elements):
                self.find(ref).insert(0, element)
        else:
            assert where == "beforeend", op
            self.find(ref).extend(elements)

    def _after(self, ref: str, elements: list[ET.Element]) -> None:
        neighbour = self.find(ref)
        parent = self._parent(neighbour)
        for element in reversed(elements):
            parent.insert(list(parent).index(neighbour) + 1, element)

    def _replace(self, dom_id: str, html: str) -> None:
        old, new = self.find(dom_id), parse(html)
        assert [element.get("id") for element in new] == [dom_id], (dom_id, html)
        parent = self._parent(old)
        at = list(parent).index(old)
        parent.remove(old)
        parent.insert(at, new[0])

    def _remove(self, dom_id: str) -> None:
        element = self.find(dom_id)
        self._parent(element).remove(element)

    def find(self, dom_id: str) -> ET.Element:
        found = [element for element in self.root.iter() if element.get("id") == dom_id]
        assert len(found) == 1, f"{len(found)} elements have the id {dom_id}"
        return found[0]

    def _parent(self, element: ET.Element) -> ET.Element:
        return next(parent for parent in self.root.iter() if element in list(parent))

    def check_ids(self) -> None:
        """Ids are unique and of the allowed characters."""
        ids = [element.get("id") or "" for element in self.root.iter() if "id" in element.attrib]
        assert len(ids) == len(set(ids)), [name for name in ids if ids.count(name) > 1]
        assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name) for name in ids)

    @property
    def markup(self) -> str:
        return canonical(list(self.root))


def canonical(elements: list[ET.Element]) -> str:
    """A text that is equal for equal trees."""
    return "".join([ET.tostring(element, encoding="unicode") for element in elements])


def shown(surfaces: Any) -> str:
    """The canonical text of all surfaces rendered afresh."""
    return canonical([element for surface in surfaces for element in parse(surface.html())])
