"""Reads A2UI messages while they are being written: each component, and the data, as soon as it is complete (D65).

What is told is provisional: nothing of it was checked but its form, and nobody knows whether it will be accepted.
"""

from __future__ import annotations

from typing import Final, Literal

from envelopes.protocol.surfaces import is_reserved
from envelopes.types import Json, JsonObject

RelativePath = list[str | int]

MOST_COMPONENTS: Final = 500
"""Components of one part that are told while it is written."""

MOST_CHARACTERS: Final = 65_536
"""Characters of them, names of properties included."""

MOST_DATA: Final = 65_536
"""Characters of the data of one part that is told, with so many more for each value in it as ``_VALUE`` says."""

_VALUE: Final = 16

_VERBS = ("createSurface", "updateComponents", "deleteSurface")
_DATA: Final[tuple[RelativePath, ...]] = (["createSurface", "dataModel"], ["updateDataModel"])
"""Where data stands in a message."""
_NEWEST = "1.0"
_LONGEST_ID = 256


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
        self._data: _Builder | None = None
        self._model: JsonObject | None = None
        self._weight = 0
        self._made: list[JsonObject] = []
        self._components = self._characters = 0
        self.full = False
        """Whether there is more than is told."""

    def take(self) -> list[JsonObject]:
        """Messages, each with one of ``createSurface`` (id and catalog), ``updateComponents``, ``updateDataModel`` and
        ``deleteSurface``."""
        self._tell_rows()
        made, self._made = self._made, []
        return made

    # -- what a scanner tells -------------------------------------------------------------------------------------

    def opened(self, path: RelativePath, container: Literal["object", "array"]) -> None:
        inner = self._within(path)
        if self._row is not None:
            self._row.opened(inner[3:], container)
        elif self._data is not None:
            self._weigh(_VALUE)
            if self._data is not None:
                self._data.opened(inner, container)
        elif inner in _DATA and container == "object" and self._weight <= MOST_DATA:
            self._data = _Builder()
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
        elif self._data is not None:
            if inner not in _DATA:
                self._data.closed()
                return
            self._keep_data(inner, self._data.value)
            self._data = None
        elif len(inner) == 1 and inner[0] == self._verb:
            self._end()

    def string_grew(self, path: RelativePath, text: str) -> None:
        if self._data is not None:
            self._text.append(text)
            self._weigh(len(text))
            return
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
        elif self._data is not None:
            self._data.put(inner, text)
        elif inner == ["version"]:
            self._version = text
        elif inner == [self._verb, "surfaceId"] and 0 < len(text) <= _LONGEST_ID and not is_reserved(text):
            self._surface_id = text
        elif inner == [self._verb, "catalogId"]:
            self._catalog_id = text

    def scalar(self, path: RelativePath, value: Json) -> None:
        read = _number(value) if isinstance(value, str) else value
        if self._row is not None:
            self._row.put(self._within(path)[3:], read)
        elif self._data is not None:
            self._weigh(_VALUE)
            if self._data is not None:
                self._data.put(self._within(path), read)

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
        self._model = None
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

    def _weigh(self, characters: int) -> None:
        """There is more of the data; what is too much is not told at all."""
        self._weight += characters
        if self._weight > MOST_DATA:
            self._data = None
            self._text.clear()

    def _keep_data(self, inner: RelativePath, value: JsonObject) -> None:
        if inner[0] == "createSurface":
            self._model = value
            if self._created:
                self._tell_model()
            return
        name = value.get("surfaceId")
        if isinstance(name, str) and 0 < len(name) <= _LONGEST_ID and not is_reserved(name):
            self._tell_rows()
            self._tell(
                {key: value[key] for key in ("surfaceId", "path", "value") if key in value}, "updateDataModel"
            )

    def _tell_model(self) -> None:
        model, self._model = self._model, None
        if model is not None:
            self._tell({"surfaceId": self._surface_id, "path": "/", "value": model}, "updateDataModel")

    def _create(self) -> None:
        if self._created:
            return
        self._created = True
        body: JsonObject = {"surfaceId": self._surface_id}
        if self._catalog_id:
            body["catalogId"] = self._catalog_id
        self._tell(body, "createSurface")
        self._tell_model()

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
