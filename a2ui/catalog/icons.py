"""The drawings of icons, loaded once at start from the `lucide` package (tech notes 8).

`drawing` is all that the rest of the engine knows of it: another set of icons needs another `_load` and names.
"""

from __future__ import annotations

import re
from importlib.resources import files
from io import BytesIO
from typing import Final
from xml.etree import ElementTree as ET
from zipfile import ZipFile

NAMES: Final = {
    "accountCircle": "circle-user", "add": "plus", "arrowBack": "arrow-left", "arrowForward": "arrow-right",
    "attachFile": "paperclip", "calendarToday": "calendar", "call": "phone", "camera": "camera", "check": "check",
    "close": "x", "delete": "trash-2", "download": "download", "edit": "pencil", "event": "calendar-days",
    "error": "circle-alert", "fastForward": "fast-forward", "favorite": "heart", "favoriteOff": "heart-off",
    "folder": "folder", "help": "circle-question-mark", "home": "house", "info": "info", "locationOn": "map-pin",
    "lock": "lock", "lockOpen": "lock-open", "mail": "mail", "menu": "menu", "moreVert": "ellipsis-vertical",
    "moreHoriz": "ellipsis", "notificationsOff": "bell-off", "notifications": "bell", "pause": "pause",
    "payment": "credit-card", "person": "user", "phone": "smartphone", "photo": "image", "play": "play",
    "print": "printer", "refresh": "refresh-cw", "rewind": "rewind", "search": "search", "send": "send",
    "settings": "settings", "share": "share-2", "shoppingCart": "shopping-cart", "skipNext": "skip-forward",
    "skipPrevious": "skip-back", "star": "star", "starHalf": "star-half", "starOff": "star-off", "stop": "square",
    "upload": "upload", "visibility": "eye", "visibilityOff": "eye-off", "volumeDown": "volume-1",
    "volumeMute": "volume-x", "volumeOff": "volume-off", "volumeUp": "volume-2", "warning": "triangle-alert",
}  # fmt: skip
"""The 59 names of the Basic Catalog, with the drawing that stands for each."""

_DIRECTED: Final = frozenset({"arrowBack", "arrowForward", "send", "starHalf"})
"""What points where reading goes, and so is mirrored where that is from right to left. Players are not."""

_NEUTRAL_NAME = "circle-dashed"
_OWN = ("circle-alert", "check", "x", "image", _NEUTRAL_NAME)

_TAGS = frozenset({"path", "circle", "rect", "line", "polyline", "polygon", "ellipse"})
_ATTRIBUTES = frozenset(
    {"d", "cx", "cy", "r", "rx", "ry", "x", "y", "x1", "y1", "x2", "y2", "width", "height", "points"}
)
_VALUE = re.compile(r"[A-Za-z0-9.,\s-]*")
_PATH = re.compile(r"[MmZzLlHhVvCcSsQqTtAa0-9eE.,+\-\s]*", re.ASCII)
_PATH_CHARS = 10_000
_CAPITAL = re.compile(r"(?=[A-Z])")


def _load(names: set[str]) -> dict[str, str]:
    """The shapes inside of the svg element, by name; only plain shapes with plain numbers."""
    archive = ZipFile(BytesIO(files("lucide").joinpath("lucide.zip").read_bytes()))
    found = {}
    with archive:
        for name in names:
            svg = ET.fromstring(archive.read(f"{name}.svg"))  # noqa: S314 - see the import
            found[name] = "".join([_shape(element) for element in svg])
    return found


def _shape(element: ET.Element) -> str:
    tag = element.tag.rpartition("}")[2]
    kept = [f' {k}="{v}"' for k, v in element.attrib.items() if k in _ATTRIBUTES and _VALUE.fullmatch(v)]
    return f"<{tag}{''.join(kept)}/>" if tag in _TAGS else ""


_DRAWINGS: Final = _load({*NAMES.values(), *_OWN})
_BY_NAME: Final = {
    name: f'<g class="b-icon--flip">{_DRAWINGS[drawn]}</g>' if name in _DIRECTED else _DRAWINGS[drawn]
    for name, drawn in NAMES.items()
}

NEUTRAL: Final = _DRAWINGS[_NEUTRAL_NAME]
"""What stands for an unknown name."""


def drawing(name: str) -> str:
    """The shapes of a catalog icon in a view box of 24 by 24, `NEUTRAL` for an unknown name."""
    return _BY_NAME.get(name, NEUTRAL)


def path_drawing(d: str) -> str:
    """The filled shape of an agent's outline, `NEUTRAL` if it is anything but path data."""
    if not d.strip() or len(d) > _PATH_CHARS or not _PATH.fullmatch(d):
        return NEUTRAL
    return f'<path fill="currentColor" stroke="none" d="{d}"/>'


def words(name: str) -> str:
    """The name of a catalog icon in words: "shopping cart"."""
    return _CAPITAL.sub(" ", name).lower() if name in _BY_NAME else ""


def _own(name: str) -> str:
    return f'<svg class="b-icon" viewBox="0 0 24 24" aria-hidden="true">{_DRAWINGS[name]}</svg>'


UI_ALERT: Final = _own("circle-alert")
UI_WARNING: Final = _own("triangle-alert")
UI_INFO: Final = _own("info")
UI_CHECK: Final = _own("check")
UI_CLOSE: Final = _own("x")
UI_IMAGE: Final = _own("image")
UI_FILM: Final = _own("play")
UI_SOUND: Final = _own("volume-2")
