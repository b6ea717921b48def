"""Theme colours: only `#rrggbb` gets in, and what comes out can be read (rulebook 15, WCAG 2.2 contrast)."""

from __future__ import annotations

import re
from dataclasses import dataclass

_HEX = re.compile("#[0-9a-fA-F]{6}")

READABLE = 4.5
"""Contrast ratio that normal text needs (WCAG 2.2, 1.4.3)."""


@dataclass(frozen=True, slots=True)
class Colour:
    """An sRGB colour, channels 0 to 255."""

    red: int
    green: int
    blue: int

    def __str__(self) -> str:
        """`#rrggbb` in lower case: safe to write into markup and style alike."""
        return f"#{self.red:02x}{self.green:02x}{self.blue:02x}"


BLACK = Colour(0, 0, 0)
WHITE = Colour(255, 255, 255)


def parse_hex(value: object) -> Colour | None:
    """The colour of exactly `#rrggbb`, None for everything else."""
    if not isinstance(value, str) or not _HEX.fullmatch(value):
        return None
    return Colour(int(value[1:3], 16), int(value[3:5], 16), int(value[5:7], 16))


def contrast(a: Colour, b: Colour) -> float:
    """The contrast ratio of two colours, 1 to 21."""
    high, low = sorted((_luminance(a), _luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def readable_on(background: Colour) -> Colour:
    """Black or white, whichever reads better; one of them always reaches `READABLE`."""
    return max(WHITE, BLACK, key=lambda colour: contrast(colour, background))


def _luminance(colour: Colour) -> float:
    def linear(channel: int) -> float:
        share = channel / 255
        return share / 12.92 if share <= 0.04045 else float(((share + 0.055) / 1.055) ** 2.4)

    return 0.2126 * linear(colour.red) + 0.7152 * linear(colour.green) + 0.0722 * linear(colour.blue)
