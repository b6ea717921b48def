"""The tables of the reading, as data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

DATA = Path(__file__).parent / "data"

BLOCK = {
    "track_id": "native-canvas-preview",
    "feature_flag": "canvas_host.enabled",
    "support_summary": "Shown to a few.",
    "security_review": ["Inputs are escaped."],
    "exit_criteria": ["No reports for a month."],
}
"""An experimental block that is in order."""

DOCUMENT: dict[str, Any] = {
    "v": 1,
    "surface": "web-console-preview",
    "components": [
        {"id": "intro", "type": "text", "props": {"value": "Before", "tone": "muted"}},
        {"id": "notes", "type": "markdown", "props": {"value": "**Bold** and [a link](https://example.com)"}},
        {"id": "steps", "type": "list", "props": {"ordered": True, "items": ["one", "two"]}},
        {"id": "metrics", "type": "table", "props": {"columns": ["Name", "Value"], "rows": [["cpu", 3]]}},
        {
            "id": "settings",
            "type": "form",
            "props": {
                "title": "Settings",
                "submitLabel": "Apply",
                "fields": [
                    {"id": "email", "type": "email", "label": "Email", "default": "a@example.com"},
                    {"id": "count", "type": "number", "min": 1, "max": 9, "default": 4},
                    {"id": "on", "type": "checkbox", "default": True},
                    {
                        "id": "level",
                        "type": "select",
                        "options": [{"label": "Low", "value": "low"}, {"label": "High", "value": "high"}],
                        "default": "high",
                    },
                ],
            },
        },
        {
            "id": "load",
            "type": "chart",
            "props": {
                "title": "Load",
                "series": [{"label": "Mon", "value": 12}, {"label": "Tue", "value": 9}],
            },
        },
    ],
    "experimental": BLOCK,
}
"""One component of each type."""


def table(name: str, part: str = "") -> list[Any]:
    """The rows of a table as pytest params."""
    rows = yaml.safe_load((DATA / f"{name}.yaml").read_text(encoding="utf-8"))
    return [pytest.param(row, id=row["name"]) for row in (rows[part] if part else rows)]
