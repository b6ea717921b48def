"""Values to text, and text to something that can be shown safely."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from json.encoder import encode_basestring
from typing import Any

# Controls but tab, line feed and carriage return; zero-width and direction marks; invisible operators; the
# characters that only annotate or tag others. All of them hide or reorder what a person reads.
_HIDDEN = re.compile(
    "[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
# The scripts that join or stack letters: there a joiner is spelling (UAX #31, 2.3).
_JOINING = (
    "\u0600-\u061b\u061d-\u07ff\u0840-\u0dff\u1000-\u109f\u1780-\u17ff\u1800-\u180d\u180f-\u18af\u1a20-\u1aaf"
    "\u1b00-\u1c4f\ua840-\ua87f\ua8e0-\ua9df\uaa00-\uaa5f\uaae0-\uaaff\uabc0-\uabff\ufb50-\ufdff\ufe70-\ufefc"
    "\U00010a00-\U00010aff\U00010d00-\U00010fff\U00011000-\U000119ff\U0001e900-\U0001e95f"
)
_PICTURES = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u27bf\u2934\u2935\u2b05-\u2b55\u3030"
    "\u303d\u3297\u3299\U0001f000-\U0001faff"
)
# A flag of a region, a joiner within a word, a joiner between two pictures (UTS #51): kept. Else what is hidden.
_HIDDEN_OR_JOINED = re.compile(
    f"(\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{{2,6}}\U000e007f|(?<=[{_JOINING}])[\u200c\u200d]"
    f"|(?<=[{_PICTURES}\ufe0f])\u200d(?=[{_PICTURES}]))|{_HIDDEN.pattern}"
)
_LINE_ENDS = re.compile("[\u2028\u2029]")
_SURROGATES = re.compile("[\ud800-\udfff]")

_EXPONENT_FROM = 21
_EXPONENT_BELOW = -6
_PLAIN_BELOW = 10**_EXPONENT_FROM


HANDLE = "$secret"
"""The member of an object that stands for an obscured value (D24), see `binding.secrets`."""

DOTS = "••••••"


def to_text(value: Any, json_chars: int = 10_000) -> str:
    """The text of a JSON value as JavaScript shows it (rulebook 7.3).

    None is `""`, strings stay, `true`/`false`, numbers in JavaScript notation (`100` for 100.0, `1e+21`),
    lists and objects as compact JSON, cut with a mark at so many characters.
    """
    kind = type(value)
    if kind is str:
        return value  # type: ignore[no-any-return]
    if value is None:
        return ""
    if value is True:
        return "true"
    if value is False:
        return "false"
    if kind is int or kind is float or isinstance(value, int | float):
        return number_text(value)
    return _json(value, json_chars) if isinstance(value, dict | list) else str(value)


def number_text(value: float) -> str:
    """A number as JavaScript writes it."""
    if isinstance(value, int):
        if -_PLAIN_BELOW < value < _PLAIN_BELOW:
            return str(value)
        try:
            value = float(value)
        except OverflowError:
            return "Infinity" if value > 0 else "-Infinity"
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    text = repr(value)
    if text.endswith(".0") and "e" not in text:
        return text[:-2] if value else "0"
    if "e" not in text and not text.startswith(("0.0000", "-0.0000")):
        return text
    # Python and JavaScript find the same shortest digits but switch to exponents at other sizes.
    sign, digits, exponent = _decompose(text)
    if _EXPONENT_BELOW <= exponent < _EXPONENT_FROM:
        if exponent < 0:
            return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
        whole = digits.ljust(exponent + 1, "0")
        fraction = whole[exponent + 1 :]
        return f"{sign}{whole[: exponent + 1]}{'.' + fraction if fraction else ''}"
    mantissa = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
    return f"{sign}{mantissa}e{'+' if exponent > 0 else '-'}{abs(exponent)}"


def _decompose(text: str) -> tuple[str, str, int]:
    """Sign, significant digits and decimal exponent of the first digit, from repr() of a float."""
    sign, text = ("-", text[1:]) if text[0] == "-" else ("", text)
    mantissa, _, exponent_text = text.partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = whole + fraction
    exponent = int(exponent_text or 0) + len(whole) - 1
    stripped = digits.lstrip("0")
    exponent -= len(digits) - len(stripped)
    return sign, stripped.rstrip("0") or "0", exponent


def _json(value: Any, limit: int) -> str:
    """Compact JSON with JavaScript numbers, not looked at any further than what fits: many elements may show one
    large value. Iterative, because literals of an agent may be nested deeply."""
    parts: list[str] = []
    room = limit
    # What is still to be written: texts, and iterators of the containers that are open.
    stack: list[Any] = [iter((("", value),))]
    closing = [""]
    while stack and room >= 0:
        entry = next(stack[-1], None)
        if entry is None:
            stack.pop()
            text = closing.pop()
        else:
            lead, item = entry
            if isinstance(item, dict) and HANDLE in item:
                text = lead + encode_basestring(DOTS)
            elif isinstance(item, dict):
                text = lead + "{"
                stack.append(_members(item, limit))
                closing.append("}")
            elif isinstance(item, list):
                text = lead + "["
                stack.append(_elements(item))
                closing.append("]")
            elif isinstance(item, str):
                text = lead + encode_basestring(item if len(item) <= room else item[: room + 1])
            elif item is None or (isinstance(item, float) and not math.isfinite(item)):
                text = lead + "null"
            else:
                text = lead + to_text(item)
        parts.append(text)
        room -= len(text)
    whole = "".join(parts)
    return whole if len(whole) <= limit else whole[: limit - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _members(item: dict[Any, Any], limit: int) -> Iterator[tuple[str, Any]]:
    comma = ""
    for key, value in item.items():
        yield f"{comma}{encode_basestring(str(key)[: limit + 1])}:", value
        comma = ","


def _elements(item: list[Any]) -> Iterator[tuple[str, Any]]:
    comma = ""
    for value in item:
        yield comma, value
        comma = ","


def clean_string(text: str) -> str:
    """The text with NUL and lone surrogates replaced by U+FFFD: databases and UTF-8 cannot carry them."""
    if text.isascii():
        return text.replace("\0", "\ufffd") if "\0" in text else text
    try:
        text.encode()
    except UnicodeEncodeError:
        text = "".join(["\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text])
    return text.replace("\0", "\ufffd")


def clean_text(text: str) -> str:
    """The text without characters that are invisible or change the direction of others.

    What joins the letters of a word or the pictures of an emoji stays where it does. Tab and line ends stay, Unicode
    line and paragraph separators become `\\n`, lone surrogates U+FFFD.
    """
    if text.isprintable():
        # Every character dealt with below is unprintable in Python's sense.
        return text
    if text.isascii():
        return _HIDDEN.sub("", text)
    text = _HIDDEN_OR_JOINED.sub(r"\1", text)
    return _SURROGATES.sub("\ufffd", _LINE_ENDS.sub("\n", text))


def escape(text: str) -> str:
    """HTML text, also fit for double-quoted attributes."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def clip(text: str, limit: int) -> tuple[str, bool]:
    """The first `limit` characters, and whether anything was cut."""
    return (text, False) if len(text) <= limit else (text[:limit], True)
