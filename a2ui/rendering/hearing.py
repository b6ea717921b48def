"""What screen readers make of a component: what it is called, whether its changes are told, whether it is left out.

See rulebook 17.5 and section 7 of the reading of 1.0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from a2ui.catalog.kinds import NOT_CARRIED_OVER
from a2ui.errors import A2uiError
from a2ui.safety.raised import hold

if TYPE_CHECKING:
    from a2ui.catalog.component_type import ComponentType
    from a2ui.state.components import Component

HIDDEN: Final = ' aria-hidden="true"'


class Hearing(NamedTuple):
    """What a component's place hands down to those inside."""

    live: bool = False
    """Changes are announced, so elements stay while their content changes: a region that is new says nothing."""
    declared: bool = False
    """Something around it asks to be hidden."""
    hidden: bool = False
    """Something around it is hidden, or may become so: nothing may take focus there."""


USUAL: Final = Hearing()


def aria_of(label: str, description: str, fallback: str, *, group: bool = False) -> str:
    """The attributes for escaped texts of `accessibility`. `group`: the element has no part of its own, and what has
    none cannot have a name."""
    found = f' aria-label="{label}"' if label else fallback
    if description:
        found = f'{found} aria-description="{description}"'
    return f' role="group"{found}' if group and found else found


def live_of(live: str | None) -> str:
    """The attribute for `live`."""
    return f' aria-live="{live}"' if live else ""


def not_hidden() -> A2uiError:
    """What is told where `hidden` cannot be had."""
    message = "What can take focus cannot be hidden from screen readers; it is announced like the rest."
    return A2uiError(message, code=NOT_CARRIED_OVER, fault="agent")


def takes_focus(component_id: str, get: Callable[[str], Component | None], known: dict[str, bool]) -> bool:
    """Whether a component, or anything inside of it, can take focus. `known`: what has been found out already.

    Without recursion: agents decide how deep trees are.
    """
    waiting = [component_id]
    while waiting:
        at = waiting[-1]
        component = get(at)
        kind = component.type if component is not None else None
        if component is None or kind is None or _takes_focus(kind, component):
            known[at] = kind is not None
        elif at not in known:
            # Seen, and to be decided when everything inside of it is.
            known[at] = False
            waiting += [child for child in component.children if child not in known]
            continue
        else:
            known[at] = any(known[child] for child in component.children)
        waiting.pop()
    return known[component_id]


def _takes_focus(kind: ComponentType, component: Component) -> bool:
    """What cannot say it may."""
    try:
        return kind.takes_focus(component.props)
    except Exception as error:
        if kind.ours:
            raise
        hold(error)
        return True
