"""A value that is not there yet: the answer to a call that an agent is at work on."""

from __future__ import annotations

from typing import Final


class Pending:
    """The type of PENDING. Where a text is shown a mark stands for it, everywhere else it is as good as nothing."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        return PENDING_TEXT


PENDING_TEXT: Final = "\N{MIDLINE HORIZONTAL ELLIPSIS}"
"""What a person sees in place of a value that is pending. A limit's mark is another one."""

PENDING: Final = Pending()
"""Never inside of another value, and never given to a function: what would hold it is pending itself."""
