"""The rules of A2UI 1.0 that models break, and three programs that keep them (sections 3 to 8 of its reading)."""

from __future__ import annotations

from typing import Any, Final

from a2ui.protocol import catalog_ids

RULES: Final = """\
- A message is {"version": "1.0", VERB: {...}} with exactly one verb: createSurface {surfaceId*, catalogId*,
  components*, dataModel, sendDataModel: true|false}, updateComponents {surfaceId*, components*}, updateDataModel
  {surfaceId*, path, value*: null removes what is there}, deleteSurface {surfaceId*}. A star marks what is required.
- catalogId is the id of a catalog that is described below. A component names another one as "@catalogId", a call as
  "catalogId".
- Create a surface once, with its components and its data, under a new surfaceId. To change it, update it: never create
  it again. Changed data needs no new components.
- components is a flat list. Exactly one has "id": "root"; write it first. Each has "id" and "component", its type.
- child, children, trigger, content and tabs hold ids, never components. Each id that they name must be in the list.
- A Button has child, the id of its Text or Icon, and action {"event": {"name": ...}}. It has no label and no text.
- A value is a literal, {"@path": "/a/b"} or {"@call": NAME, "args": {...}}; literal: neither of the two others.
- A template makes a child of each item of a list: "children": {"componentId": ID, "path": "/items"}, this path without
  @. In it paths without a leading slash start at the item, and {"@call": "@index"} is its number from 0. Give items an
  "id".
- formatString puts values into text: "${/a} or ${name}, ${formatDate(value: day, format: 'd MMM')}".
- Text is Markdown; a heading is "#### Title", the variant "caption" is small print.
- Bind the value of an input: it writes there what people enter. "@checks": [{"condition": binding or call, "message"}]
  says what must hold; a Button with @checks waits until they pass. The context of its event brings what you need of
  the data; with sendDataModel you get all of it.
- "@accessibility": {"label"} names what has no words of its own; "weight" is the share of a child of a Row or Column.
- Use what stands below and nothing else. A surface with an unknown component, a missing id or a missing required
  property is refused, and nobody sees it.
"""

EXAMPLES: Final[tuple[tuple[str, list[dict[str, Any]]], ...]] = (
    (
        "a list with a button for each item",
        [
            {
                "version": "1.0",
                "createSurface": {
                    "surfaceId": "fares-1",
                    "catalogId": catalog_ids.BASIC_1_0,
                    "components": [
                        {
                            "id": "root",
                            "component": "List",
                            "children": {"componentId": "row", "path": "/fares"},
                        },
                        {
                            "id": "row",
                            "component": "Row",
                            "justify": "spaceBetween",
                            "align": "center",
                            "children": ["what", "go"],
                        },
                        {
                            "id": "what",
                            "component": "Text",
                            "text": {
                                "@call": "formatString",
                                "args": {
                                    "value": "**${id}** ${formatCurrency(value: price, currency: 'GBP')}"
                                },
                            },
                        },
                        {
                            "id": "go",
                            "component": "Button",
                            "child": "go-text",
                            "action": {"event": {"name": "choose", "context": {"fare": {"@path": "id"}}}},
                        },
                        {"id": "go-text", "component": "Text", "text": "Choose"},
                    ],
                    "dataModel": {"fares": [{"id": "EJ4521", "price": 94}]},
                },
            }
        ],
    ),
    (
        "a form",
        [
            {
                "version": "1.0",
                "createSurface": {
                    "surfaceId": "who-1",
                    "catalogId": catalog_ids.BASIC_1_0,
                    "components": [
                        {"id": "root", "component": "Card", "child": "all"},
                        {"id": "all", "component": "Column", "children": ["name", "send"]},
                        {
                            "id": "name",
                            "component": "TextField",
                            "label": "Name",
                            "value": {"@path": "/name"},
                            "@checks": [
                                {
                                    "condition": {"@call": "required", "args": {"value": {"@path": "/name"}}},
                                    "message": "Who travels?",
                                }
                            ],
                        },
                        {
                            "id": "send",
                            "component": "Button",
                            "variant": "primary",
                            "child": "send-text",
                            "action": {"event": {"name": "book", "context": {"name": {"@path": "/name"}}}},
                        },
                        {"id": "send-text", "component": "Text", "text": "Book"},
                    ],
                    "dataModel": {"name": ""},
                },
            }
        ],
    ),
    (
        "that form once it has been sent, and a new price",
        [
            {
                "version": "1.0",
                "updateComponents": {
                    "surfaceId": "who-1",
                    "components": [
                        {"id": "all", "component": "Column", "children": ["done"]},
                        {"id": "done", "component": "Text", "text": {"@path": "/said"}},
                    ],
                },
            },
            {
                "version": "1.0",
                "updateDataModel": {"surfaceId": "who-1", "path": "/said", "value": "Booked."},
            },
            {
                "version": "1.0",
                "updateDataModel": {"surfaceId": "fares-1", "path": "/fares/0/price", "value": 89},
            },
        ],
    ),
)
"""What each shows, and its messages. A test runs them in this order through a strict engine, without a report."""
