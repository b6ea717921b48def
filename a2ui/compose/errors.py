"""What is wrong with a piece of a surface, told at the line that wrote it."""

from __future__ import annotations

from typing import ClassVar

from a2ui.errors import VALIDATION_FAILED, A2uiError, Fault


class ComposeError(A2uiError):
    """A surface cannot be put together so.

    ``component`` is the type of the component or the name of the function, ``property`` that of its property or
    argument; "" for what belongs to none.
    """

    default_code = VALIDATION_FAILED
    default_fault: ClassVar[Fault] = "us"

    def __init__(self, message: str = "", *, component: str = "", property: str = "") -> None:
        told = f"{component}: {message}" if component else message
        super().__init__(told, component=component, property=property)
        self.component = component
        self.property = property
