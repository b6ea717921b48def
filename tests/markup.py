"""Reading markup in tests, with an HTML5 parser."""

from __future__ import annotations

from typing import Any

import html5lib


def elements(html: str) -> list[dict[str, str]]:
    """The attributes of every element of a fragment, in page order; ``#tag`` is its name."""
    tree: Any = html5lib.parseFragment(html, treebuilder="etree", namespaceHTMLElements=False)
    return [
        {**element.attrib, "#tag": element.tag} for element in tree.iter() if isinstance(element.tag, str)
    ]
