"""Reading the data model: closures for paths, and who takes note of what they read."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, TypeAlias

from a2ui.data.pointer import Tokens, to_index
from a2ui.errors import A2uiError

Getter: TypeAlias = Callable[[Any], Any]
"""Value of the scope -> value; absent is None."""

Read: TypeAlias = tuple[Tokens, bool]
"""(tokens, absolute) of something that was read."""

Report: TypeAlias = Callable[[A2uiError, str], None]
"""Takes note of a problem of the component with this id."""


class Const:
    """A compiled value that reads nothing."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Source(Protocol):
    """Where absolute paths start: `now` is the data model as it is at the moment."""

    @property
    def now(self) -> Any: ...


class Counter(Protocol):
    """A template, as far as its items are counted. `at` is the position of the item that is being evaluated; `watched`
    says that somebody may ask for it, so that it has to be kept right while items are drawn."""

    at: int
    watched: bool


class ReadRecorder:
    """Where the compiled values of one part of a component leave what they read and what went wrong.

    `counter` is the template whose items they are in, None outside of any; `counts`: they read its position. `grows`:
    further paths may show up later, in a formatString text that itself comes from the data; `on_read` is called for
    those, with None for the position. `asks`: an agent may be asked for them, since whatever shows the answer is drawn
    anew once it is there.
    """

    __slots__ = ("asks", "component_id", "counter", "counts", "grows", "on_read", "reads", "report")

    def __init__(
        self,
        component_id: str,
        report: Callable[[A2uiError, str], None],
        counter: Counter | None = None,
        *,
        asks: bool = True,
    ) -> None:
        self.asks = asks
        self.component_id = component_id
        self.reads: dict[Read, Getter] = {}
        """What is read, with the closure that reads it: a value and its checks have one for all."""
        self.report = report
        self.counter = counter
        self.counts = False
        self.grows = False
        self.on_read: Callable[[Read | None], None] | None = None

    def reading(self, source: Source, read: Read) -> Getter:
        """What is at the tokens, from the root or from the scope, None where there is nothing; noted as read."""
        known = self.reads.get(read)
        if known is None:
            known = self.reads[read] = reader(source, *read)
            if self.on_read is not None:
                self.on_read(read)
        return known

    def counting(self) -> None:
        """Notes that the position of the item is read."""
        if not self.counts:
            self.counts = True
            if self.counter is not None:
                self.counter.watched = True
            if self.on_read is not None:
                self.on_read(None)

    def failed(self, error: A2uiError) -> None:
        self.report(error, self.component_id)


def reader(source: Source, tokens: Tokens, absolute: bool) -> Getter:
    """What is at the tokens, from the root or from the scope; None where there is nothing."""
    # Partials of functions that stand apart, here and elsewhere: what a closure holds on to makes it several
    # objects, which have to be made and which the collector has to look at.
    if absolute:
        return partial(_from_root, source, tokens)
    if not tokens:
        return _itself
    return partial(_member, tokens[0], tokens) if len(tokens) == 1 else partial(_below, tokens)


def _from_root(source: Source, tokens: Tokens, _: Any) -> Any:
    value = source.now
    for token in tokens:
        if type(value) is not dict:
            return descend(source.now, tokens)
        value = value.get(token)
    return value


def _itself(scope: Any) -> Any:
    return scope


def _member(token: str, tokens: Tokens, scope: Any) -> Any:
    return scope.get(token) if type(scope) is dict else descend(scope, tokens)


def _below(tokens: Tokens, scope: Any) -> Any:
    return descend(scope, tokens)


def descend(value: Any, tokens: Tokens) -> Any:
    """The value at the tokens, None where there is nothing."""
    for token in tokens:
        if type(value) is dict:
            value = value.get(token)
        elif type(value) is list:
            index = to_index(token)
            if index is None or index >= len(value):
                return None
            value = value[index]
        else:
            return None
    return value
