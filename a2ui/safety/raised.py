"""What code of an application raised: what may be told of it, and what nobody holds up."""

from __future__ import annotations

from typing import Any, Final

_OURS: Final = "a2ui"


class NotHtml(TypeError):
    """What should be HTML is none."""


def hold(error: Exception) -> None:
    """Raises the error again where going on would be worse than the failure: there is no memory left."""
    if isinstance(error, MemoryError):
        raise error


def checked(html: Any) -> str:
    """HTML as every page can have it. Raises NotHtml for what is no text, UnicodeEncodeError for half a character."""
    if not isinstance(html, str):
        raise NotHtml
    if not html.isascii():
        html.encode()
    # Texts that know of themselves that they are HTML become plain.
    return html if type(html) is str else f"{html}"


def is_ours(module: str) -> bool:
    """Whether a module, by its name, is one of this package."""
    return module == _OURS or module.startswith(_OURS + ".")


def raised_at(error: BaseException, module: str) -> str:
    """The type of an error and where it came from, `KeyError at planner.banner:31`: the innermost line of the package
    of `module`, of any package but this where it has none. Not its message, in which there may be values."""
    package, _, _ = module.partition(".")
    own = other = ""
    at = error.__traceback__
    while at is not None:
        name = str(at.tb_frame.f_globals.get("__name__", "?"))
        place = f"{name}:{at.tb_lineno}"
        if name.partition(".")[0] == package:
            own = place
        if not is_ours(name) or not other:
            other = place
        at = at.tb_next
    return f"{type(error).__name__} at {own or other}"
