"""What input components share: how an entered value is checked (rulebook section 12)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from a2ui.catalog.registry import ComponentType

if TYPE_CHECKING:
    from a2ui.interaction.locate import Instance


class InputType(ComponentType):
    """A component with a `value` that a person changes.

    `input_kind` is its `data-in`: how the page reads the value.
    """

    interactive = True

    @abstractmethod
    def entered(self, value: Any, instance: Instance) -> Any:
        """What to store for what the browser sent. Raises InputError for what is no value of this input."""

    def is_obscured(self, props: Mapping[str, Any]) -> bool:
        """Whether the value must never be shown or stored in the clear (R9)."""
        return False
