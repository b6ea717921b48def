"""Finds components that would contain themselves without end (rulebook 8, cycles).

A component contains itself without end when the walk down comes back to it with the same data scope. Static
references keep the scope, a template with an absolute path resets it, a template with a relative path goes one
level deeper into the data and ends with it. So a cycle is bad unless it goes down by relative templates alone
at least once and never resets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from a2ui.state.components import Reference

References = Callable[[str], "Sequence[Reference]"]


def find_cycle(starts: Iterable[str], references: References) -> list[str]:
    """The ids along one bad cycle that can be reached from the starts, the first repeated at the end; else []."""
    any_cycle = _walk(starts, references, lambda _: True)
    if not any_cycle:
        return []
    # Some cycle exists. Bad is one without relative templates, or one on which a template resets the scope.
    starts = list(_reachable(starts, references))
    bad = _walk(
        starts, references, lambda reference: reference.template is None or reference.template.absolute
    )
    return bad or _through_reset(starts, references)


def _walk(starts: Iterable[str], references: References, follow: Callable[[Reference], bool]) -> list[str]:
    """Depth-first search without recursion over the references that `follow` accepts."""
    done: set[str] = set()
    for start in starts:
        if start in done:
            continue
        path: dict[str, None] = {start: None}
        stack = [iter(references(start))]
        while stack:
            for reference in stack[-1]:
                child = reference.child
                if child in done or not follow(reference):
                    continue
                if child in path:
                    trail = list(path)
                    return [*trail[trail.index(child) :], child]
                below = references(child)
                if below:
                    path[child] = None
                    stack.append(iter(below))
                    break
                done.add(child)
            else:
                stack.pop()
                done.add(path.popitem()[0])
    return []


def _reachable(starts: Iterable[str], references: References) -> dict[str, None]:
    """In the order of finding: which of several cycles is named must not depend on how texts are hashed."""
    seen = dict.fromkeys(starts)
    stack = list(seen)
    while stack:
        for reference in references(stack.pop()):
            if reference.child not in seen:
                seen[reference.child] = None
                stack.append(reference.child)
    return seen


def _through_reset(nodes: Iterable[str], references: References) -> list[str]:
    """A cycle that has a template with an absolute path on it: its two ends are in one component of the graph."""
    group = _strong_components(nodes, references)
    for node in nodes:
        for reference in references(node):
            template = reference.template
            if template is not None and template.absolute and group[node] == group[reference.child]:
                return [node, reference.child, node] if node != reference.child else [node, node]
    return []


def _strong_components(nodes: Iterable[str], references: References) -> dict[str, int]:
    """Number of the strongly connected component of each node (Kosaraju, without recursion)."""
    order: list[str] = []
    backwards: dict[str, list[str]] = {node: [] for node in nodes}
    seen: set[str] = set()
    for start in backwards:
        stack = [(start, iter(references(start)))] if start not in seen else []
        seen.add(start)
        while stack:
            node, rest = stack[-1]
            for reference in rest:
                backwards[reference.child].append(node)
                if reference.child not in seen:
                    seen.add(reference.child)
                    stack.append((reference.child, iter(references(reference.child))))
                    break
            else:
                order.append(node)
                stack.pop()
    group: dict[str, int] = {}
    for number, start in enumerate(reversed(order)):
        todo = [start]
        while todo:
            node = todo.pop()
            if node not in group:
                group[node] = number
                todo.extend(backwards[node])
    return group
