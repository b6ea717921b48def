"""The data model of one surface (rulebook section 6): reads, upserts, deletes and patches, all atomic.

Whatever `value` or `read` returned never changes afterwards: a container that was handed out is copied before
the next change (path copying). Until a container is handed out it is changed in place, so a run of writes costs
the depth of the paths and the size of the values, however large the model is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from a2ui.data.patch import Editor, Touched
from a2ui.data.pointer import ABSENT, Absent, Tokens, read
from a2ui.data.upsert import Step, plan_delete, plan_write
from a2ui.data.values import JSON, Copier, pointer_text
from a2ui.errors import LimitError, PatchError
from a2ui.journal import Journal
from a2ui.safety.limits import DEFAULT_LIMITS, Limits

_MAX_OWNED = 10_000
_EMPTY_BYTES = len("{}")


class DataModel:
    """A JSON value that is read and changed through tokens.

    `size` is its size in bytes as in `values.measure`; `dropped` lists the pointers of reserved members that
    the last change left out of its value (D29).
    """

    __slots__ = ("_journal", "_limits", "_owned", "dropped", "now", "size")

    def __init__(
        self,
        value: JSON | Absent = ABSENT,
        *,
        limits: Limits = DEFAULT_LIMITS,
        journal: Journal | None = None,
    ) -> None:
        """Starts as `{}`, or as a clean copy of `value`. Raises DataError or LimitError for a bad value."""
        self._limits = limits
        self._journal = journal or Journal()
        self.now: JSON = {}
        """The whole model, valid until the next change; unlike `value`, a look does not cost that change a copy."""
        self._owned: dict[int, Any] = {}
        self.size = _EMPTY_BYTES
        self.dropped: tuple[str, ...] = ()
        if value is not ABSENT:
            copier = Copier(limits)
            self.now = copier.copy(value)
            self.size = copier.bytes
            self.dropped = _pointers(copier.dropped)
            self._check_size(self.size)

    @property
    def value(self) -> JSON:
        """The whole model. It will not change any more; never change it yourself."""
        self._owned = {}
        return self.now

    def read(self, tokens: Tokens) -> JSON | Absent:
        """The value at the tokens or ABSENT. A container will not change any more; never change it yourself."""
        found = read(self.now, tokens)
        if self._owned and isinstance(found, dict | list):
            self._owned = {}
        return found

    def write(self, tokens: Tokens, value: JSON) -> list[Touched]:
        """Upsert (6.3): replaces the value, creates missing parents, pads lists with null; null is stored.

        Raises DataError for a path through a plain value or a bad list index, LimitError for an index above
        `list_index` and for a model that would become too deep or too large. Nothing has changed then.
        """
        copier = Copier(self._limits)
        copied = copier.copy(value, tokens)
        steps = plan_write(self.now, tokens, copied, copier.bytes, self._limits)
        touched = self._run(steps)
        self.dropped = _pointers(copier.dropped)
        return touched

    def delete(self, tokens: Tokens) -> list[Touched]:
        """Removes a member, sets a list element to null, makes the whole model `{}`; never an error (6.4)."""
        touched = self._run(plan_delete(self.now, tokens))
        self.dropped = ()
        return touched

    def patch(
        self, operations: Sequence[Any], limits: Limits | None = None, *, budgeted: bool = True
    ) -> list[Touched]:
        """RFC 6902, all or nothing. Raises PatchError.

        `budgeted=False`: any number of operations, for patches that the engine made itself (`write_ops`, D30).
        """
        editor = Editor(self.now, limits or self._limits)
        editor.apply(operations, budgeted=budgeted)
        try:
            self._replace(editor)
        except LimitError as error:
            raise PatchError(error.message, code=error.code, **error.facts) from error
        self.dropped = _pointers(editor.dropped)
        return editor.touched

    def _run(self, steps: list[Step]) -> list[Touched]:
        editor = Editor(self.now, self._limits)
        noting = self._journal.on
        # One planned step that fits cannot fail any more, so it may change in place what nobody has seen. But what went
        # from an object would come back as its last member.
        in_place = (
            len(steps) == 1
            and self.size + steps[0].most_bytes <= self._limits.data_bytes
            and not (noting and steps[0].op == "remove")
        )
        if in_place:
            editor.owned = self._owned
        for step in steps:
            if step.op == "remove":
                editor.remove(step.tokens)
            else:
                editor.put(step.tokens, step.value, step.size, must_exist=step.op == "replace")
        if in_place:
            if noting:
                self._journal.call(self._back, steps[0].tokens, editor.before, self.size)
            self._commit(editor)
        else:
            self._replace(editor)
        return editor.touched

    def _back(self, tokens: Tokens, value: JSON | Absent, size: int) -> None:
        """Undoes a step that was done in place. What was handed out since then stays as it is."""
        editor = Editor(self.now, self._limits)
        editor.owned = self._owned
        if value is ABSENT:
            editor.remove(tokens)
        else:
            editor.put(tokens, value, 0, must_exist=True)
        self.now, self.size = editor.root, size

    def _replace(self, editor: Editor) -> None:
        """The model becomes what the editor made of it; all that it was before is still there."""
        if self._journal.on:
            self._journal.call(self._load, self.now, self.size)
        self._commit(editor)

    def _load(self, value: JSON, size: int) -> None:
        self.now, self.size, self._owned = value, size, {}

    def _commit(self, editor: Editor) -> None:
        self._check_size(self.size + editor.bytes)
        self.now = editor.root
        # Containers that were removed again stay in here until the next hand-out; that must not add up.
        self._owned = editor.owned if len(editor.owned) <= _MAX_OWNED else {}
        self.size += editor.bytes

    def _check_size(self, size: int) -> None:
        allowed = self._limits.data_bytes
        if size > allowed:
            raise LimitError("The data model is too large.", limit="data_bytes", allowed=allowed, got=size)


def write_ops(model: DataModel, tokens: Tokens, value: JSON) -> list[dict[str, Any]]:
    """`updateDataModel` with a value as RFC 6902 operations: what `model.write` would do. Raises like it.

    A list that has to be padded needs one operation for each null, so the patch may be longer than the limit
    for patches of an agent.
    """
    limits = model._limits
    copier = Copier(limits)
    copied = copier.copy(value, tokens)
    return [step.as_operation() for step in plan_write(model.now, tokens, copied, copier.bytes, limits)]


def _pointers(dropped: list[Tokens]) -> tuple[str, ...]:
    return tuple([pointer_text(tokens) for tokens in dropped])
