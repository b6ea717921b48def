"""JSON Patch (RFC 6902): atomic, budgeted, and telling what it changed.

Documents are never mutated while anybody else can see them: the editor copies the containers on the way to a
change (path copying) and shares all others, so applying costs the widths along the path, not the document.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from a2ui.data.pointer import ABSENT, Tokens, parse_rfc6901, read, to_index
from a2ui.data.values import FORBIDDEN, JSON, Copier, equal, measure, member_bytes, pointer_text
from a2ui.errors import A2uiError, PatchError, PointerError, must_be
from a2ui.safety.limits import Limits

Kind: TypeAlias = Literal["set", "insert", "remove"]


@dataclass(frozen=True, slots=True)
class Touched:
    """One place that changed, in the order of the changes.

    `set`: the value at `tokens` was added, replaced or (members of objects) removed. `insert` and `remove` are
    for list elements only: the element with that index came or went, and those behind it moved.
    """

    tokens: Tokens
    kind: Kind = "set"


def apply_patch(document: JSON, operations: Sequence[Any], *, limits: Limits) -> tuple[JSON, list[Touched]]:
    """The document after all operations, and what they touched. The input document is left as it is.

    Raises PatchError with the index and path of the first operation that fails; then nothing has happened.
    Values inside operations are copied and cleaned (see `values.Copier`).
    """
    editor = Editor(document, limits)
    editor.apply(operations)
    return editor.root, editor.touched


class Editor:
    """A document being changed: the working state of one patch, or of a data model between two reads.

    `owned` holds the containers made by this editor and seen by nobody else; they are changed in place, all
    others are copied first. `bytes` is the change in size (see `values.measure`), `dropped` the reserved
    members left out of values.
    """

    __slots__ = ("_copier", "_limits", "_moved_nodes", "before", "bytes", "owned", "root", "touched")

    def __init__(self, root: JSON, limits: Limits) -> None:
        self.root: Any = root
        self.touched: list[Touched] = []
        # Values are kept beside their ids: an id is unique only while its object lives.
        self.owned: dict[int, Any] = {}
        self._limits = limits
        self._copier = Copier(limits)
        self._moved_nodes = 0
        self.bytes = 0
        self.before: Any = ABSENT
        """What the last `put` took the place of."""

    @property
    def dropped(self) -> list[Tokens]:
        return self._copier.dropped

    # ------------------------------------------------------------------ operations as JSON

    def apply(self, operations: Sequence[Any], *, budgeted: bool = True) -> None:
        """Apply RFC 6902 operations. Raises PatchError; the editor is spoilt then, the original is not.

        `budgeted=False` lifts the limit on their number, for patches made by the engine itself (D30).
        """
        if not isinstance(operations, list | tuple):
            raise PatchError(must_be("patch", "a list of operations", operations))
        if budgeted and len(operations) > self._limits.patch_operations:
            raise PatchError(
                f"A patch has at most {self._limits.patch_operations} operations.",
                code="budget_exceeded",
                limit="patch_operations",
                allowed=self._limits.patch_operations,
                got=len(operations),
            )
        for index, operation in enumerate(operations):
            try:
                self._apply_one(operation)
            except PatchError as error:
                error.index = error.facts["index"] = index
                error.path = error.path or _path_of(operation)
                raise
            except A2uiError as error:
                code = error.code if error.code == "budget_exceeded" else "invalid_patch"
                path = error.path or _path_of(operation)
                facts = {key: fact for key, fact in error.facts.items() if key != "index"}
                raise PatchError(error.message, code=code, index=index, path=path, **facts) from error

    def _apply_one(self, operation: Any) -> None:
        if not isinstance(operation, dict):
            raise PatchError(must_be("operation", "an object", operation))
        op = operation.get("op")
        tokens = _pointer_member(operation, "path")
        if op == "add":
            self.add(tokens, _value_member(operation))
        elif op == "replace":
            self.replace(tokens, _value_member(operation))
        elif op == "remove":
            self.remove(tokens)
        elif op == "test":
            self._test(tokens, _value_member(operation))
        elif op == "move":
            self._move(_pointer_member(operation, "from"), tokens)
        elif op == "copy":
            self._copy(_pointer_member(operation, "from"), tokens)
        else:
            raise PatchError(f"Unknown operation {op!r:.40}.")

    # ------------------------------------------------------------------ operations on tokens

    def add(self, tokens: Tokens, value: Any) -> None:
        """Insert a copy into a list, or set a member or the whole document."""
        self.put(tokens, *self._take(value, tokens))

    def replace(self, tokens: Tokens, value: Any) -> None:
        """Replace a value that exists by a copy of this one."""
        self.put(tokens, *self._take(value, tokens), must_exist=True)

    def remove(self, tokens: Tokens) -> tuple[Any, int]:
        """Take the value away; returns it and its size. Removing the whole document leaves null."""
        if not tokens:
            value, self.root = self.root, None
            self.bytes += _size(None)
            self.touched.append(Touched(()))
        else:
            parent = self._parent(tokens)
            if isinstance(parent, list):
                value = parent.pop(_existing_index(parent, tokens))
                self.bytes -= 1
                self.touched.append(Touched(tokens, "remove"))
            elif tokens[-1] in parent:
                value = parent.pop(tokens[-1])
                self.bytes -= member_bytes(tokens[-1])
                self.touched.append(Touched(tokens))
            else:
                raise _missing(tokens)
        size = _size(value)
        self.bytes -= size
        return value, size

    def put(self, tokens: Tokens, value: Any, size: int, *, must_exist: bool = False) -> None:
        """`add` or `replace` for a clean value of this size, which belongs to the document from now on."""
        if not tokens:
            self.before = self.root
            size -= _size(self.root)
            self.root = value
            self.touched.append(Touched(()))
        else:
            size -= self._put_below(tokens, value, must_exist)
        self.bytes += size

    def _put_below(self, tokens: Tokens, value: Any, must_exist: bool) -> int:
        """Returns the size of what was there before, negative if the parent grew by a place."""
        parent = self._parent(tokens)
        before = 0
        self.before = ABSENT
        if isinstance(parent, dict):
            name = tokens[-1]
            if name in parent:
                self.before = parent[name]
                before = _size(self.before)
            elif must_exist:
                raise _missing(tokens)
            else:
                before = -member_bytes(name)
            parent[name] = value
            self.touched.append(Touched(tokens))
        elif must_exist:
            index = _existing_index(parent, tokens)
            self.before = parent[index]
            before = _size(self.before)
            parent[index] = value
            self.touched.append(Touched(tokens))
        else:
            index = len(parent) if tokens[-1] == "-" else _index(tokens)
            if index > len(parent):
                raise _missing(tokens)
            parent.insert(index, value)
            before = -1
            self.touched.append(Touched((*tokens[:-1], str(index)), "insert"))
        return before

    def _test(self, tokens: Tokens, expected: Any) -> None:
        found = read(self.root, tokens)
        if found is ABSENT:
            raise _missing(tokens)
        if not equal(found, expected):
            raise PatchError(
                "The value is not the expected one.", code="test_failed", path=pointer_text(tokens)
            )

    def _copy(self, source: Tokens, tokens: Tokens) -> None:
        value = read(self.root, source)
        if value is ABSENT:
            raise _missing(source)
        # Measured before it is copied, so that doubling stops before the memory is used.
        self._charge(measure(value)[0], tokens)
        self.add(tokens, value)

    def _move(self, source: Tokens, tokens: Tokens) -> None:
        if source == tokens:
            if read(self.root, source) is ABSENT:
                raise _missing(source)
            return
        if tokens[: len(source)] == source:
            raise PatchError("A value cannot be moved into itself.", path=pointer_text(tokens))
        value, size = self.remove(source)
        nodes, _, depth = measure(value)
        self._charge(nodes, tokens)
        if len(tokens) + depth > self._limits.data_depth:
            raise PatchError(
                "The value would be nested too deeply.", code="budget_exceeded", limit="data_depth"
            )
        self.put(tokens, value, size)

    # ------------------------------------------------------------------ helpers

    def _take(self, value: Any, tokens: Tokens) -> tuple[Any, int]:
        before = self._copier.bytes
        copied = self._copier.copy(value, tokens)
        return copied, self._copier.bytes - before

    def _charge(self, nodes: int, tokens: Tokens) -> None:
        self._moved_nodes += nodes
        if self._moved_nodes > self._limits.patch_nodes:
            raise PatchError(
                "The patch copies too much.",
                code="budget_exceeded",
                path=pointer_text(tokens),
                limit="patch_nodes",
                allowed=self._limits.patch_nodes,
            )

    def _parent(self, tokens: Tokens) -> dict[str, Any] | list[Any]:
        """The container that holds the last token, owned by this editor."""
        node = self.root = self._own(self.root, tokens)
        for depth, token in enumerate(tokens[:-1]):
            key: Any = token
            if isinstance(node, list):
                key = _existing_index(node, tokens[: depth + 1])
            elif token not in node:
                raise _missing(tokens)
            child = node[key]
            owned = self._own(child, tokens)
            if owned is not child:
                node[key] = owned
            node = owned
        container: dict[str, Any] | list[Any] = node
        return container

    def _own(self, node: Any, tokens: Tokens) -> Any:
        if id(node) in self.owned:
            return node
        if isinstance(node, dict):
            fresh: Any = dict(node)
        elif isinstance(node, list):
            fresh = list(node)
        else:
            raise PatchError(
                "The path leads through a plain value.", code="conflict", path=pointer_text(tokens)
            )
        self.owned[id(fresh)] = fresh
        return fresh


def _size(value: Any) -> int:
    if type(value) is str and value.isascii():
        return len(value) + 2
    return measure(value)[1]


def _index(tokens: Tokens) -> int:
    index = to_index(tokens[-1])
    if index is None:
        message = "A list index is 0 or digits without a leading zero."
        raise PatchError(message, code="conflict", path=pointer_text(tokens))
    return index


def _existing_index(parent: list[Any], tokens: Tokens) -> int:
    index = _index(tokens)
    if index >= len(parent):
        raise _missing(tokens)
    return index


def _missing(tokens: Tokens) -> PatchError:
    return PatchError("There is nothing at this path.", code="conflict", path=pointer_text(tokens))


def _path_of(operation: Any) -> str:
    path = operation.get("path") if isinstance(operation, dict) else None
    return path if isinstance(path, str) else ""


def _pointer_member(operation: dict[str, Any], name: str) -> Tokens:
    path = operation.get(name)
    if not isinstance(path, str):
        raise PatchError(f'The operation needs a "{name}" that is text.')
    return patch_pointer(path)


def patch_pointer(path: str) -> Tokens:
    """The tokens of an operation's pointer. Raises PatchError for one that is malformed or uses a reserved name, so
    that a patch can be checked before there is anything to apply it to."""
    try:
        tokens = parse_rfc6901(path)
    except PointerError as error:
        raise PatchError(error.message, path=path) from error
    if not FORBIDDEN.isdisjoint(tokens):
        raise PatchError("The path uses a reserved name.", path=path)
    return tokens


def _value_member(operation: dict[str, Any]) -> Any:
    if "value" not in operation:
        raise PatchError('The operation needs a "value".')
    return operation["value"]
