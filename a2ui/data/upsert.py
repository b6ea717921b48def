"""What `updateDataModel` means for a given model (rulebook 6.3 and 6.4), as steps that cannot fail any more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from a2ui.data.pointer import ABSENT, Tokens, is_index, read, to_index
from a2ui.data.values import FORBIDDEN, member_bytes, pointer_text
from a2ui.errors import DataError, LimitError
from a2ui.safety.limits import Limits

_NULL_BYTES = 4
_EMPTY_BYTES = 2


@dataclass(frozen=True, slots=True)
class Step:
    """One RFC 6902 operation on tokens; `size` is that of `value` (see `values.measure`)."""

    op: Literal["add", "replace", "remove"]
    tokens: Tokens
    value: Any = None
    size: int = 0

    @property
    def most_bytes(self) -> int:
        """By how much the step makes the model larger at most: the value and the name of a new member."""
        return self.size + (member_bytes(self.tokens[-1]) if self.tokens else 0)

    def as_operation(self) -> dict[str, Any]:
        """The operation as JSON."""
        operation: dict[str, Any] = {"op": self.op, "path": pointer_text(self.tokens)}
        if self.op != "remove":
            operation["value"] = self.value
        return operation


def plan_write(root: Any, tokens: Tokens, value: Any, size: int, limits: Limits) -> list[Step]:
    """Steps that put the value at the tokens. Raises DataError or LimitError where that cannot be."""
    if len(tokens) > limits.data_depth:
        raise LimitError(
            "The path is too long.", limit="data_depth", allowed=limits.data_depth, got=len(tokens)
        )
    if not FORBIDDEN.isdisjoint(tokens):
        raise DataError("The path uses a reserved name.", path=pointer_text(tokens))
    node = root
    for depth, token in enumerate(tokens):
        here = tokens[: depth + 1]
        if node is None:
            # A null parent counts as missing. Only the root gets here as null: others are caught one level up.
            return [Step("replace", tokens[:depth], *_wrap(tokens[depth:], value, size, limits))]
        if isinstance(node, dict):
            child = node.get(token, ABSENT)
        elif isinstance(node, list):
            index = to_index(token)
            if index is None:
                raise _bad_index(token, tokens, limits)
            if index >= len(node):
                return _extend(node, here, index, *_wrap(tokens[depth + 1 :], value, size, limits), limits)
            child = node[index]
        else:
            where = pointer_text(tokens)
            raise DataError(f"Cannot set path {where:.200}: it leads through a plain value.", path=where)
        if child is ABSENT or child is None or depth == len(tokens) - 1:
            op: Literal["add", "replace"] = "add" if child is ABSENT else "replace"
            return [Step(op, here, *_wrap(tokens[depth + 1 :], value, size, limits))]
        node = child
    return [Step("replace", (), value, size)]


def plan_delete(root: Any, tokens: Tokens) -> list[Step]:
    """Steps that delete what is at the tokens; none if there is nothing."""
    if not tokens:
        return [Step("replace", (), {}, _EMPTY_BYTES)]
    parent = read(root, tokens[:-1])
    if isinstance(parent, dict) and tokens[-1] in parent:
        return [Step("remove", tokens)]
    if isinstance(parent, list) and read(parent, tokens[-1:]) is not ABSENT:
        return [Step("replace", tokens, None, _NULL_BYTES)]
    return []


def _extend(node: list[Any], here: Tokens, index: int, value: Any, size: int, limits: Limits) -> list[Step]:
    gap = index - len(node)
    # Appending is always possible; only padding can be abused.
    if gap and index > limits.list_index:
        raise _index_limit(here, limits)
    end = (*here[:-1], "-")
    return [*[Step("add", end, None, _NULL_BYTES)] * gap, Step("add", here, value, size)]


def _wrap(rest: Tokens, value: Any, size: int, limits: Limits) -> tuple[Any, int]:
    """The value inside the parents that have to be created, and its size."""
    for token in reversed(rest):
        if is_index(token):
            index = to_index(token)
            if index is None or index > limits.list_index:
                raise _index_limit(rest, limits)
            size += _EMPTY_BYTES + 1 + (_NULL_BYTES + 1) * index
            if size > limits.data_bytes:
                raise LimitError(
                    "The data model is too large.", limit="data_bytes", allowed=limits.data_bytes
                )
            value = [*[None] * index, value]
        else:
            size += _EMPTY_BYTES + member_bytes(token)
            value = {token: value}
    return value, size


def _bad_index(token: str, tokens: Tokens, limits: Limits) -> DataError | LimitError:
    if is_index(token):
        return _index_limit(tokens, limits)
    where = pointer_text(tokens)
    return DataError(
        f"Cannot set path {where:.200}: non-numeric segment {token!r:.40} on a list.", path=where
    )


def _index_limit(tokens: Tokens, limits: Limits) -> LimitError:
    return LimitError(
        f"A list index may be at most {limits.list_index}.",
        path=pointer_text(tokens),
        limit="list_index",
        allowed=limits.list_index,
    )
