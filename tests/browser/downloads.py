"""What a browser downloads in code to show a conversation."""

from __future__ import annotations

import gzip

from playwright.sync_api import Page, Response

LIMIT = 10_000
"""Bytes, gzipped: what our own code may have beside htmx."""


def scripts(page: Page, url: str) -> dict[str, bytes]:
    """Every script that opening the page fetches: its path, and its text gzipped as a server in production sends it."""
    answers: list[Response] = []

    def heard(answer: Response) -> None:
        answers.append(answer)

    page.on("response", heard)
    page.goto(url, wait_until="networkidle")
    page.remove_listener("response", heard)
    return {
        answer.url.split("/static/", 1)[-1]: gzip.compress(answer.body(), 9)
        for answer in answers
        if answer.request.resource_type == "script"
    }
