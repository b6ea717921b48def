"""Which files pages show as pictures: bitmaps that are what they are called, and not too large to be drawn."""

from __future__ import annotations

import logging
import warnings
from typing import BinaryIO, Final

from PIL import Image, UnidentifiedImageError

logger = logging.getLogger(__name__)

FORMATS: Final = {"image/gif": "GIF", "image/jpeg": "JPEG", "image/png": "PNG", "image/webp": "WEBP"}
"""By media type. No SVG: it is a document, with scripts of its own for whoever opens it."""

BYTES = 10 * 1024 * 1024
SIDE = 10_000
PIXELS = 40_000_000
"""Of a picture that is shown: what a browser needs to draw it is four bytes for each."""


def size_of(mime_type: str, size_bytes: int, file: BinaryIO) -> tuple[int, int]:
    """Width and height of a picture that may be shown; (0, 0) for anything else. Reads the header alone: nothing is
    decoded."""
    kind = FORMATS.get(mime_type)
    if kind is None or not 0 < size_bytes <= BYTES:
        return 0, 0
    try:
        with warnings.catch_warnings():
            # Its own limit; ours follows.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(file, formats=[kind]) as picture:
                width, height = picture.size
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, ValueError, SyntaxError) as error:
        logger.info("A file that is called %s is none that can be shown: %s", mime_type, error)
        return 0, 0
    fits = 0 < width <= SIDE and 0 < height <= SIDE and width * height <= PIXELS
    return (width, height) if fits else (0, 0)
