"""Small files that are pictures, and some that only say so."""

from __future__ import annotations

import io
import struct
import zlib

from PIL import Image


def picture(kind: str = "PNG", size: tuple[int, int] = (40, 30), colour: str = "teal") -> bytes:
    """A real one."""
    made = io.BytesIO()
    Image.new("RGB", size, colour).save(made, kind)
    return made.getvalue()


def png_that_says(width: int, height: int) -> bytes:
    """A few bytes of PNG with a header of any size: what a browser would make room for."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b""))
        + chunk(b"IEND", b"")
    )


SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>'
HTML = b"<!doctype html><script>alert(1)</script>"
