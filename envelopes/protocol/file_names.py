"""Names of files that anybody may have written, as they are shown, stored and downloaded: one name, everywhere."""

from __future__ import annotations

import unicodedata

import regex  # type: ignore[import-untyped]

from a2ui.safety.text import clean_text
from envelopes.protocol.text import is_blank

LONGEST = 120
"""Characters; with four bytes each still less than the 255 bytes that a file system may take, but for long clusters."""
LONGEST_BYTES = 240

# Controls, direction and other format characters, what has no glyph, private use. What `clean_text` leaves of joiners
# and of flags belongs to a word or to a picture.
_UNSEEN = regex.compile(
    r"[[\p{C}\p{Default_Ignorable_Code_Point}\ufff9-\ufffd]--[\u200c\u200d\ufe0e\ufe0f\U000e0020-\U000e007f]]",
    regex.V1,
)
_BLANKS = regex.compile(r"[\s\u2800]+")
# What one system or another takes for a separator, a drive, a wildcard or an end of the name.
_FORBIDDEN = regex.compile(r'[/\\:*?"<>|]+')
_DEVICE = regex.compile(
    r"(?:con|prn|aux|nul|clock\$|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?=\.|$)", regex.IGNORECASE
)
_CLUSTER = regex.compile(r"\X")


def file_name(name: str) -> str:
    """``name`` as one that every file system takes and every reader sees whole.

    Without path, controls, invisible and direction characters; blanks are single spaces; no device name of Windows; no
    dot or blank at either end; at most ``LONGEST`` characters, cut before the extension. ``file`` if nothing is left.
    """
    name = unicodedata.normalize("NFC", _UNSEEN.sub("", _BLANKS.sub(" ", clean_text(name))))
    name = _BLANKS.sub(" ", _FORBIDDEN.sub("_", name)).strip(" .")
    stem, dot, extension = name.rpartition(".")
    if not stem or len(extension) > 16:
        stem, dot, extension = name, "", ""
    ending = f"{dot}{extension.strip()}"
    kept = _cut(stem.rstrip(" ."), LONGEST - len(ending), LONGEST_BYTES - len(ending.encode()))
    name = f"{kept}{ending}"
    return "file" if is_blank(name) else f"_{name}" if _DEVICE.match(name) else name


def _cut(stem: str, characters: int, size: int) -> str:
    """As many whole clusters of ``stem`` as fit."""
    if len(stem) <= characters and len(stem.encode()) <= size:
        return stem
    kept = ""
    for cluster in _CLUSTER.findall(stem):
        longer = kept + cluster
        if len(longer) >= characters or len(longer.encode()) > size - 3:
            break
        kept = longer
    return f"{kept.rstrip()}…"
