"""What messages of A2UI are called where media types are (section 2 of the reading of 1.0)."""

from __future__ import annotations

from typing import Final

MEDIA_TYPE: Final = "application/a2ui+json"
"""What is said, of whatever version."""

_OLDER: Final = "application/json+a2ui"
"""What v0.9 said."""


def is_media_type(text: str) -> bool:
    """Whether a media type, with or without parameters, is one of A2UI's."""
    return text.partition(";")[0].strip().lower() in {MEDIA_TYPE, _OLDER}
