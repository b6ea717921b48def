"""Reads A2UI messages while they are being written: each component as soon as it is complete (D65).

What is told is provisional: nothing of it was checked but its form, and nobody knows whether it will be accepted.
"""

from __future__ import annotations

from typing import Final, Literal

from envelopes.protocol.surfaces import is_reserved
from envelopes.types import Json, JsonObject

MOST_COMPONENTS: Final = 500
"""Components of one part that are told while it is written."""

MOST_CHARACTERS: Final = 65_536
"""Characters of them, names of properties included."""

_VERBS = ("createSurface", "updateComponents", "deleteSurface")
_NEWEST = "1.0"
_LONGEST_ID = 256

RelativePath = list[str | int]


class SurfaceReader:
    """Told by a scanner what it sees within the data of one part, with paths that begin there: a message, several in
    ``{"messages": [...]}``, or the combined object of the envelope document (D2). ``take`` gives what became complete.
    """

    def __init__(self) -> None:
        self._version = ""
        self._message: int | None = None
        self._verb = ""
        self._surface_id = ""
        self._catalog_id = ""
        self._created = False
        self._text: list[str] = []
        self._rows: list[JsonObject] = []
        self._row: _Builder | None = None
        self._made: list[JsonObject] = []
        self._components = self._characters = 0
        self.full = False
        """Whether there is more than is told."""

    def take(self) -> list[JsonObject]:
        """Messages, each with one of ``createSurface`` (id and catalog), ``updateComponents`` and ``deleteSurface``."""
        self._tell_rows()
        made, self._made = self._made, []
        return made

    # -- what a scanner tells -------------------------------------------------------------------------------------

    def opened(self, path: RelativePath, container: Literal["object", "array"]) -> None:
        inner = self._within(path)
        if self._row is not None:
            self._row.opened(inner[3:], container)
        elif len(inner) == 1 and inner[0] in _VERBS and container == "object":
            self._begin(str(inner[0]))
        elif inner[1:2] == ["components"] and len(inner) == 3 and container == "object" and self._is_wanted():
            self._row = _Builder()

    def closed(self, path: RelativePath) -> None:
        inner = self._within(path)
        if self._row is not None:
            if len(inner) > 3:
                self._row.closed()
                return
            self._keep(self._row.value)
            self._row = None
        elif len(inner) == 1 and inner[0] == self._verb:
            self._end()

    def string_grew(self, path: RelativePath, text: str) -> None:
        if self._row is None and path[-1:] not in (["version"], ["surfaceId"], ["catalogId"]):
            return
        self._characters += len(text)
        if self._characters > MOST_CHARACTERS:
            self.full, self._row = True, None
        else:
            self._text.append(text)

    def string_ended(self, path: RelativePath) -> None:
        text, self._text = "".join(self._text), []
        inner = self._within(path)
        if self._row is not None:
            self._row.put(inner[3:], text)
        elif inner == ["version"]:
            self._version = text
        elif inner == [self._verb, "surfaceId"] and 0 < len(text) <= _LONGEST_ID and not is_reserved(text):
            self._surface_id = text
        elif inner == [self._verb, "catalogId"]:
            self._catalog_id = text

    def scalar(self, path: RelativePath, value: Json) -> None:
        if self._row is not None:
            self._row.put(self._within(path)[3:], _number(value) if isinstance(value, str) else value)

    # -- what it makes of that ------------------------------------------------------------------------------------

    def _within(self, path: RelativePath) -> RelativePath:
        """The path within a message."""
        if path[:1] != ["messages"]:
            return path
        if len(path) > 1 and isinstance(path[1], int) and path[1] != self._message:
            self._message, self._version, self._verb = path[1], "", ""
        return path[2:]

    def _is_wanted(self) -> bool:
        self.full = self.full or self._components >= MOST_COMPONENTS
        return self._verb in ("createSurface", "updateComponents") and not self.full

    def _begin(self, verb: str) -> None:
        self._tell_rows()
        self._verb, self._surface_id, self._catalog_id, self._created = verb, "", "", False
        self._rows.clear()

    def _end(self) -> None:
        if self._verb == "createSurface" and self._surface_id:
            self._create()
        elif self._verb == "deleteSurface" and self._surface_id:
            self._tell({"surfaceId": self._surface_id}, "deleteSurface")
        self._tell_rows()
        self._verb = ""

    def _keep(self, row: JsonObject) -> None:
        if not isinstance(row.get("id"), str) or not row["id"] or not isinstance(row.get("component"), str):
            return
        self._components += 1
        self._rows.append(row)

    def _create(self) -> None:
        if self._created:
            return
        self._created = True
        body: JsonObject = {"surfaceId": self._surface_id}
        if self._catalog_id:
            body["catalogId"] = self._catalog_id
        self._tell(body, "createSurface")

    def _tell_rows(self) -> None:
        # The id may be written behind the components.
        if not self._rows or not self._surface_id:
            return
        if self._verb == "createSurface":
            self._create()
        rows, self._rows = self._rows, []
        self._tell({"surfaceId": self._surface_id, "components": rows}, "updateComponents")

    def _tell(self, body: JsonObject, verb: str) -> None:
        self._made.append({"version": self._version or _NEWEST, verb: body})


class _Builder:
    """An object from what is told of its inside."""

    def __init__(self) -> None:
        self.value: JsonObject = {}
        self._stack: list[Json] = [self.value]

    def opened(self, path: RelativePath, container: Literal["object", "array"]) -> None:
        made: Json = {} if container == "object" else []
        self.put(path, made)
        self._stack.append(made)

    def closed(self) -> None:
        self._stack.pop()

    def put(self, path: RelativePath, value: Json) -> None:
        holder = self._stack[-1]
        if isinstance(holder, list):
            holder.append(value)
        else:
            holder[str(path[-1])] = value


def _number(text: str) -> Json:
    """A number as a scanner tells it."""
    return int(text) if text.lstrip("-").isdigit() and len(text) < 20 else float(text)
