"""Ids under which the Basic and the minimal catalog are known (rulebook 18; reading of 1.0, 8)."""

from __future__ import annotations

from typing import Final

BASIC: Final = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"
"""The canonical id, also inside the v0.9.1 catalog file."""

MINIMAL: Final = "https://a2ui.org/specification/v0_9/catalogs/minimal/catalog.json"

_REPOSITORIES = ("google/A2UI", "a2ui-project/a2ui")

BASIC_ALIASES: Final = (
    "https://a2ui.org/specification/v0_9_1/catalogs/basic/catalog.json",
    "https://a2ui.org/specification/v0_9/basic_catalog.json",
    "https://a2ui.org/specification/v0_9/standard_catalog.json",
    "https://a2ui.org/specification/v0_9/standard_catalog_definition.json",
    "https://a2ui.org/specification/v0_9/catalog.json",
    "https://a2ui.dev/specification/v0_9/catalogs/basic/catalog.json",
    "https://a2ui.dev/specification/v0_9/standard_catalog.json",
    "https://a2ui.dev/specification/0.9/standard_catalog.json",
    *(
        f"https://github.com/{repository}/blob/main/specification/v0_9/{path}"
        for repository in _REPOSITORIES
        for path in (
            "json/standard_catalog.json",
            "json/basic_catalog.json",
            "catalogs/basic/catalog.json",
            "json/catalogs/basic/catalog.json",
        )
    ),
    *(
        f"https://raw.githubusercontent.com/{repository}/refs/heads/main/specification/v0_9/catalogs/basic/catalog.json"
        for repository in _REPOSITORIES
    ),
    "https://a2ui.org/catalogs/v1/basic.json",
    "https://a2ui.org/basic-catalog",
    "basic",
    "standard",
    "core-v0.9",
)

BASIC_1_0: Final = "https://a2ui.org/specification/v1_0/catalogs/basic/catalog.json"

BASIC_1_0_ALIASES: Final = (
    "https://a2ui.org/specification/v0_10/catalogs/basic/catalog.json",
    "https://a2ui.org/catalogs/basic/v1/catalog.json",
)
"""What drafts of 1.0 and one of its suites call it."""

MINIMAL_ALIASES: Final = ("https://a2ui.org/specification/v0_9_1/catalogs/minimal/catalog.json", "minimal")

BEACH: Final = "https://beach.cool-ai.io/a2ui/v0_9/catalogs/beach/catalog.json"
"""Our own catalog: the Basic Catalog and what `catalog.beach` adds to it."""

BEACH_1_0: Final = "https://beach.cool-ai.io/a2ui/v1_0/catalogs/beach/catalog.json"


def loose(catalog_id: str) -> str:
    """The id without scheme and case: the second way to compare, after exact equality."""
    _, separator, rest = catalog_id.partition("://")
    return (rest if separator else catalog_id).casefold()
