"""Browser tests of this folder use the browser of tests/browser; name their files, so that each part runs by itself."""

from __future__ import annotations

from tests.browser.conftest import chromium, desk, open_desk, site

__all__ = ["chromium", "desk", "open_desk", "site"]
