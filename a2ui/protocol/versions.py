"""The versions of the protocol (rulebook 19, 20, 22). Only the adapters and the envelope reader know of them."""

from __future__ import annotations

from typing import Final

NATIVE: Final = ("v0.9", "v0.9.1")
"""What the engine itself speaks."""

KNOWN: Final = ("v0.8", *NATIVE, "v1.0")
"""What it takes, the others through an adapter."""

V08_VERBS: Final = ("beginRendering", "surfaceUpdate", "dataModelUpdate")
"""Messages of v0.8, which has no version key; `deleteSurface` is its fourth."""
