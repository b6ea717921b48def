"""The rules of axe-core, best practices among them, held against a page."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from playwright.sync_api import Page

_RUN = "(only) => axe.run({ resultTypes: ['violations'], ...(only.length ? { runOnly: only } : {}) })"


@cache
def _code() -> str:
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def findings(page: Page, *only: str) -> list[str]:
    """What breaks a rule on the page as it stands: one line for each element, rule first. ``only`` rules with these
    tags, where there are any."""
    # Evaluated by the debugger, which the page's policy does not bind.
    page.evaluate(_code())
    result: dict[str, Any] = page.evaluate(_RUN, list(only))
    assert only or len(result["passes"]) > 10, "axe has looked at something"
    return [
        f"{rule['id']}: {node['target']} {node['failureSummary'].splitlines()[1].strip()}"
        for rule in result["violations"]
        for node in rule["nodes"]
    ]
