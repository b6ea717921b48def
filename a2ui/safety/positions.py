"""Patterns that google-re2 does not take, in bounded time: look-around, and large counts of large sets.

A pattern is a graph of nodes, each of which says what must follow. The text is read once from its end to its
start; at each position a node either matches what follows there or not, and that depends on what holds one
character further on. So nothing is ever tried twice. Each look-around is a graph of its own, read before the one that
asks it (one that looks behind from the start to the end), and leaves a mark for each position.

The states that a text leads through are kept while it is read: known ones cost one step, new ones one step for
each node. The number of steps of a search has a limit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, TypeAlias

import re2

from a2ui.safety.charsets import Charset
from a2ui.safety.compiling import compiled
from a2ui.safety.pattern_tree import Chars, Choice, Edge, Look, Node, Repeat, Sequence

_MOST_TABLES: Final = 8
_TABLE_BYTES: Final = 1 << 15
_NODE_BYTES: Final = 120
_RUN_STEPS: Final = 40
"""What it costs to find a run of neighbouring characters in a set that only re2 knows."""
_WORD: Final = frozenset("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")

_START, _END, _BOUNDARY = 1, 2, 4
_FIRST_LOOK: Final = 3
"""Bits of what is around a position; then one for each look-around."""


class TooManyStepsError(Exception):
    """The search would cost more than it may."""


class TooLargeError(Exception):
    """The pattern asks for too many different sets of characters."""


class _Take(NamedTuple):
    """A character of the set of that number, then the node `following`."""

    charset: int
    following: int


class _Either(NamedTuple):
    nodes: tuple[int, ...]


class _Check(NamedTuple):
    """Goes on with `following` where the bits are set around the position, or are not."""

    bits: int
    wanted: bool
    following: int


_Op: TypeAlias = "_Take | _Either | _Check | None"
"""None: the end of the pattern."""


@dataclass(slots=True)
class _Graph:
    """`order`: nodes after those that they need at the same position; `loops`: that does not hold for all of them."""

    direction: Literal[1, -1]
    start: int = 0
    ops: list[_Op] = field(default_factory=lambda: [None])
    order: list[int] = field(default_factory=list)
    loops: bool = False
    asks: int = 0
    """The bits that its nodes ask for."""


class Matcher:
    """A pattern made ready. Immutable; `memory` is what it keeps, in bytes. Raises TooLargeError."""

    def __init__(self, tree: Node) -> None:
        self._charsets: dict[Charset, int] = {}
        self._graphs: list[_Graph] = []
        self._looks: dict[int, int] = {}
        self._graph(tree, ahead=True)
        self._looks.clear()
        self._tables: dict[Charset, re2._Regexp[str]] = {}
        for charset in self._charsets:
            if not charset.plain:
                if len(self._tables) == _MOST_TABLES:
                    raise TooLargeError
                try:
                    self._tables[charset] = compiled(f"(?:{charset.text()})+", _TABLE_BYTES)
                except re2.error as error:
                    raise TooLargeError from error
        self.size = sum([len(graph.ops) for graph in self._graphs])
        self.memory = self.size * _NODE_BYTES + len(self._tables) * _TABLE_BYTES

    def found(self, text: str, allowed: int) -> bool:
        """Whether the pattern matches anywhere in the text. Raises TooManyStepsError beyond so many steps."""
        search = _Search(text, allowed)
        symbols = search.symbols(list(self._charsets), self._tables)
        around = search.around()
        for number, graph in enumerate(self._graphs[:-1]):
            bit = 1 << (_FIRST_LOOK + number)
            for position in search.matches(graph, symbols, around):
                around[position] |= bit
        return bool(search.matches(self._graphs[-1], symbols, around))

    # ------------------------------------------------------------------ building

    def _graph(self, tree: Node, *, ahead: bool) -> int:
        """Adds the graph of a tree, after those of its look-arounds; its number."""
        graph = _Graph(-1 if ahead else 1)
        graph.start = self._add(graph, tree, 0)
        _arrange(graph)
        self._graphs.append(graph)
        return len(self._graphs) - 1

    def _add(self, graph: _Graph, node: Node, following: int) -> int:
        """Adds the nodes that match `node` and then go on with `following`; the number of the first."""
        match node:
            case Chars(chars):
                number = self._charsets.setdefault(chars, len(self._charsets))
                return _append(graph, _Take(number, following))
            case Edge(kind):
                bits = {"^": _START, "$": _END}.get(kind, _BOUNDARY)
                return _append(graph, _Check(bits, kind != "B", following))
            case Look(item, ahead, negative):
                number = self._looks.get(id(node), -1)
                if number < 0:
                    number = self._looks[id(node)] = self._graph(item, ahead=ahead)
                return _append(graph, _Check(1 << (_FIRST_LOOK + number), not negative, following))
            case Sequence(parts):
                for part in reversed(parts) if graph.direction < 0 else parts:
                    following = self._add(graph, part, following)
                return following
            case Choice(options):
                starts = tuple([self._add(graph, option, following) for option in options])
                return _append(graph, _Either(starts))
            case Repeat():
                return self._repeat(graph, node, following)

    def _repeat(self, graph: _Graph, node: Repeat, following: int) -> int:
        needed = node.low
        if node.high is None:
            again = _append(graph, None)
            body = self._add(graph, node.item, again)
            graph.ops[again] = _Either((body, following))
            # The body is the last of the copies that are needed.
            following = body if needed else again
            needed = max(0, needed - 1)
        else:
            end = following
            for _ in range(node.high - node.low):
                following = _append(graph, _Either((self._add(graph, node.item, following), end)))
        for _ in range(needed):
            following = self._add(graph, node.item, following)
        return following


class _Search:
    """One text."""

    def __init__(self, text: str, allowed: int) -> None:
        self.text = text
        self.left = allowed

    def pay(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise TooManyStepsError

    def symbols(self, charsets: list[Charset], tables: dict[Charset, re2._Regexp[str]]) -> list[int]:
        """For each character the sets that it is in, as bits."""
        chars = sorted(set(self.text))
        joined = "".join(chars)
        masks = dict.fromkeys(chars, 0)
        for number, charset in enumerate(charsets):
            self.pay(len(chars))
            if table := tables.get(charset):
                runs = table.findall(joined)
                self.pay(len(runs) * _RUN_STEPS)
                members = set("".join(runs))
            else:
                members = charset.members(chars)
            for char in members:
                masks[char] |= 1 << number
        return [masks[char] for char in self.text]

    def around(self) -> list[int]:
        """For each position, and the one behind the last character, what is around it."""
        self.pay(len(self.text))
        found = [0] * (len(self.text) + 1)
        found[0] |= _START
        found[-1] |= _END
        before = False
        for position, char in enumerate(self.text):
            word = char in _WORD
            if word != before:
                found[position] |= _BOUNDARY
            before = word
        if before:
            found[-1] |= _BOUNDARY
        return found

    def matches(self, graph: _Graph, symbols: list[int], around: list[int]) -> list[int]:
        """The positions at which the graph matches what follows (or, looking behind, what comes before)."""
        last = len(self.text)
        states: dict[tuple[bytes, int, int], bytes] = {}
        state = bytes(len(graph.ops))
        found = []
        for position in range(last, -1, -1) if graph.direction < 0 else range(last + 1):
            if graph.direction < 0:
                symbol = symbols[position] if position < last else 0
            else:
                symbol = symbols[position - 1] if position else 0
            key = (state, symbol, around[position] & graph.asks)
            known = states.get(key)
            if known is None:
                known = states[key] = self._next(graph, *key)
            self.left -= 1
            state = known
            if state[graph.start]:
                found.append(position)
        self.pay(0)
        return found

    def _next(self, graph: _Graph, state: bytes, symbol: int, around: int) -> bytes:
        values = bytearray(len(state))
        ops = graph.ops
        while True:
            self.pay(len(ops))
            changed = False
            for number in graph.order:
                op = ops[number]
                if op is None:
                    value = 1
                elif type(op) is _Take:
                    value = state[op[1]] if symbol >> op[0] & 1 else 0
                elif type(op) is _Either:
                    value = 0
                    for other in op[0]:
                        if values[other]:
                            value = 1
                            break
                else:
                    assert type(op) is _Check  # noqa: S101 - there is no other
                    value = values[op[2]] if bool(around & op[0]) is op[1] else 0
                if value and not values[number]:
                    values[number] = 1
                    changed = True
            if not (graph.loops and changed):
                return bytes(values)


def _append(graph: _Graph, op: _Op) -> int:
    graph.ops.append(op)
    return len(graph.ops) - 1


def _needs(op: _Op) -> tuple[int, ...]:
    """The nodes whose value a node needs at the same position."""
    return op.nodes if isinstance(op, _Either) else (op.following,) if isinstance(op, _Check) else ()


def _arrange(graph: _Graph) -> None:
    """Fills in the order, whether there are loops, and what is asked."""
    waiting, done = 1, 2
    marks = bytearray(len(graph.ops))
    for root in range(len(graph.ops)):
        stack = [root]
        while stack:
            number = stack[-1]
            if marks[number] == done:
                stack.pop()
            elif marks[number] == waiting:
                marks[number] = done
                graph.order.append(number)
                stack.pop()
            else:
                marks[number] = waiting
                for other in _needs(graph.ops[number]):
                    if not marks[other]:
                        stack.append(other)
                    elif marks[other] == waiting:
                        graph.loops = True
    for op in graph.ops:
        if isinstance(op, _Check):
            graph.asks |= op.bits
