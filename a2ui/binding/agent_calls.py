"""Calls of functions that an agent runs: what one surface has asked, and what came of it.

The table changes by rows of the log only, and what is drawn is a function of it and of the data: so nothing that draws
makes a call. Which calls are wanted is asked of the *sites*, see `rendering.asking`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from a2ui.binding.budget import CUT
from a2ui.binding.reading import Getter, ReadRecorder
from a2ui.data.values import JSON, Copier
from a2ui.errors import BUDGET_EXCEEDED, DataError, ExpressionError, LimitError
from a2ui.functions.pending import PENDING, Pending
from a2ui.functions.registry import Function
from a2ui.journal import Journal
from a2ui.safety.limits import Limits

Part: TypeAlias = Any
"""What shows values, see `rendering.place`."""

State: TypeAlias = Literal["pending", "answered", "failed"]

_KEY_CHARS: Final = 32
_EXACT: Final = 2**53
"""Whole numbers up to here are the same for whoever knows doubles only."""
_SHOWS_TEXT: Final = frozenset({"string", "any"})


class Request(NamedTuple):
    """One call with resolved arguments; `key` is the same for the same catalog, name and arguments."""

    name: str
    catalog_id: str
    arguments: dict[str, JSON]
    key: str


class Call(NamedTuple):
    """A request that was made. `value` is that of an answered one, `error` `(code, message)` of a failed one."""

    id: str
    key: str
    state: State = "pending"
    value: JSON = None
    error: tuple[str, str] = ("", "")


class Site:
    """Where a compiled value calls such a function."""

    __slots__ = ("_arguments", "_catalog_id", "_limits", "function")

    def __init__(
        self, function: Function, catalog_id: str, arguments: Sequence[tuple[str, Getter]], limits: Limits
    ) -> None:
        self.function = function
        self._catalog_id = catalog_id
        self._arguments = arguments
        self._limits = limits

    def request(self, scope: Any) -> Request | Pending | ExpressionError:
        """What is to be asked where the scope has this value: nothing as long as an argument is pending, or where the
        arguments are too long."""
        arguments: dict[str, JSON] = {}
        for name, get in self._arguments:
            value = get(scope)
            if isinstance(value, Pending):
                return PENDING
            arguments[name] = value
        return request(self.function, self._catalog_id, arguments, self._limits)


def request(
    function: Function, catalog_id: str, arguments: dict[str, JSON], limits: Limits
) -> Request | ExpressionError:
    """The request with these arguments; the error for arguments that are too long, or no JSON."""
    name = function.name
    try:
        arguments = Copier(limits).copy(arguments)
    except (DataError, LimitError) as error:
        return ExpressionError(error.message, expression=name[:100], code=error.code)
    if len(_text(arguments)) > limits.agent_call_chars:
        return _refusal(
            name,
            f"The arguments of {name[:40]} are longer than {limits.agent_call_chars} characters of JSON.",
            "agent_call_chars",
            limits.agent_call_chars,
        )
    return Request(name, catalog_id, arguments, key_of(name, catalog_id, arguments))


def key_of(name: str, catalog_id: str, arguments: Mapping[str, JSON]) -> str:
    """What is the same for the same call, also once it has been stored: databases write numbers in their own way."""
    text = _text({name: _canonical(value) for name, value in arguments.items()})
    return sha256(f"{catalog_id} {name} {text}".encode("utf-8", "surrogatepass")).hexdigest()[:_KEY_CHARS]


def _text(arguments: Mapping[str, JSON]) -> str:
    return json.dumps(arguments, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _canonical(value: JSON) -> JSON:
    if type(value) is float:
        return int(value) if value.is_integer() and abs(value) < _EXACT else value
    if type(value) is int:
        return value if abs(value) < _EXACT else float(value)
    if type(value) is list:
        return [_canonical(item) for item in value]
    if type(value) is dict:
        return {key: _canonical(item) for key, item in value.items()}
    return value


def _refusal(name: str, message: str, limit: str, allowed: int) -> ExpressionError:
    return ExpressionError(message, expression=name[:100], code=BUDGET_EXCEEDED, limit=limit, allowed=allowed)


class AgentCalls:
    """The table of one surface, and the sites of its view.

    A call stays in it as long as it is shown; those that are not shown any more go once there is no room for another.
    """

    __slots__ = (
        "_allowed", "_failure", "_journal", "by_key", "catalog_id", "clicked", "compiled", "count", "homes", "parts",
        "sites",
    )  # fmt: skip

    def __init__(self, catalog_id: str, limits: Limits, journal: Journal) -> None:
        """`catalog_id` is the surface's own: calls that name none belong to it."""
        self._journal = journal
        self.catalog_id = catalog_id
        self._allowed = limits.agent_calls
        self.by_key: dict[str, Call] = {}
        """What is shown, or was."""
        self.clicked: dict[str, str] = {}
        """Pending calls that a click made, whose answer nobody shows: their keys by id."""
        self.count = 0
        """Calls so far: their ids are never used again."""
        self.compiled = 0
        """Sites that were compiled, ever."""
        self.sites: dict[ReadRecorder, tuple[Site, ...]] = {}
        """Sites whose part is not registered yet."""
        self.parts: dict[Part, tuple[Site, ...]] = {}
        self.homes: dict[ReadRecorder, Part] = {}
        """The parts of recorders that may get further sites."""
        self._failure: tuple[str, str] | None = None

    # ------------------------------------------------------------------ the table

    @property
    def room(self) -> int:
        return self._allowed - len(self.by_key) - len(self.clicked)

    def value(
        self, asked: Request | Pending | ExpressionError, function: Function, recorder: ReadRecorder
    ) -> Any:
        """What there is of a request now; None, and a report, where it has failed or cannot be made."""
        if isinstance(asked, ExpressionError):
            recorder.failed(asked)
            return None
        if isinstance(asked, Pending):
            return PENDING
        call = self.by_key.get(asked.key)
        if call is None:
            if self.room > 0:
                return PENDING
            recorder.failed(self.too_many(function.name))
            signature = function.signature
            return CUT if signature is None or signature.returns in _SHOWS_TEXT else None
        if call.state == "failed":
            if self._journal.on:
                self._journal.attribute(self, "_failure")
            self._failure = call.error
            code, message = call.error
            recorder.failed(ExpressionError(message, expression=function.name, code=code))
            return None
        return PENDING if call.state == "pending" else call.value

    def too_many(self, name: str) -> ExpressionError:
        """Why no further call is made."""
        message = f"A surface calls agents' functions for at most {self._allowed} values at once. Show fewer."
        return _refusal(name, message, "agent_calls", self._allowed)

    def looks(self) -> Callable[[str], object]:
        """How requests are shown as the table is now: something that is equal as long as one is shown in the same way,
        by key."""
        return partial(_look, self.by_key, "pending" if self.room > 0 else "cut")

    def make(self, keys: Mapping[str, str], forget: Sequence[str], *, clicked: bool) -> None:
        """These calls, `{id: key}`, wait for an answer; those to `forget` are gone. See `CallsDue`."""
        self._note()
        self.count += len(keys)
        if clicked:
            self.clicked = {**self.clicked, **keys}
            return
        gone = set(forget)
        kept = {key: call for key, call in self.by_key.items() if call.id not in gone}
        self.by_key = kept | {key: Call(call_id, key) for call_id, key in keys.items()}

    def answer(self, call_id: str, value: JSON, failure: tuple[str, str] | None) -> bool:
        """The call is over. Whether a click had made it, so that nobody shows what came of it."""
        self._note()
        if call_id in self.clicked:
            self.clicked = {other: key for other, key in self.clicked.items() if other != call_id}
            return True
        key = self.pending()[call_id]
        over = (
            Call(call_id, key, "answered", value)
            if failure is None
            else Call(call_id, key, "failed", None, failure)
        )
        self.by_key = {**self.by_key, key: over}
        return False

    def take_failure(self) -> tuple[str, str] | None:
        """The error of the last failed call that was evaluated since this was asked: (code, message)."""
        failure, self._failure = self._failure, None
        return failure

    def pending(self) -> dict[str, str]:
        """The keys of the calls that wait for an answer, by id."""
        return {call.id: call.key for call in self.by_key.values() if call.state == "pending"} | self.clicked

    def _note(self) -> None:
        # Tables are replaced, never changed: what was noted stays what it was.
        if self._journal.on:
            self._journal.state(self)

    def saved(self) -> tuple[Any, ...]:
        """See `journal.Saved`; sites are noted where they change."""
        return self.by_key, self.clicked, self.count

    def load(self, saved: Any) -> None:
        """See `journal.Saved`."""
        self.by_key, self.clicked, self.count = saved

    def snapshot(self) -> dict[str, Any] | None:
        """The table as JSON, None where nothing was ever called."""
        if not self.count:
            return None
        calls = [
            [call.id, call.key, call.state, call.value, list(call.error)] for call in self.by_key.values()
        ]
        return {"count": self.count, "calls": calls, "clicked": self.clicked}

    def restore(self, data: Mapping[str, Any]) -> None:
        """Fills an empty table from `snapshot()`."""
        self.count = data["count"]
        self.clicked = dict(data["clicked"])
        for call_id, key, state, value, (code, message) in data["calls"]:
            self.by_key[key] = Call(call_id, key, state, value, (code, message))

    # ------------------------------------------------------------------ sites

    def add(self, recorder: ReadRecorder, site: Site) -> None:
        """A value of the recorder's calls such a function."""
        if self._journal.on:
            self._journal.attribute(self, "compiled")
        self.compiled += 1
        home = self.homes.get(recorder)
        if home is None:
            self.sites[recorder] = (*self.sites.get(recorder, ()), site)
            return
        if self._journal.on:
            self._journal.item(self.parts, home)
        self.parts[home] = (*self.parts.get(home, ()), site)

    def register(self, part: Part, recorder: ReadRecorder) -> None:
        """What the recorder holds is shown by this part."""
        found = self.sites.pop(recorder, None)
        if found is not None:
            if self._journal.on:
                self._journal.item(self.parts, part)
            self.parts[part] = (*self.parts.get(part, ()), *found)
        if recorder.grows:
            if self._journal.on:
                self._journal.item(self.homes, recorder)
            self.homes[recorder] = part

    def forget(self, part: Part) -> None:
        """The part shows nothing any more."""
        if part in self.parts:
            if self._journal.on:
                self._journal.entries(self.parts)
            del self.parts[part]
        for recorder in [recorder for recorder, home in self.homes.items() if home is part]:
            if self._journal.on:
                self._journal.entries(self.homes)
            del self.homes[recorder]

    def forget_all(self) -> None:
        """There is another view: what the one before it showed is of nobody's concern."""
        if self._journal.on:
            for name in ("sites", "parts", "homes"):
                self._journal.attribute(self, name)
        self.sites, self.parts, self.homes = {}, {}, {}


def _look(by_key: Mapping[str, Call], without: str, key: str) -> object:
    call = by_key.get(key)
    if call is None:
        return without
    return call.state if call.state == "pending" else call.id
