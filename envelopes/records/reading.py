"""Reading the file of a conversation: every line checked, on its own and with the others, before anything is stored."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NotRequired, cast, get_origin, get_type_hints

from pydantic import ValidationError

from envelopes.errors import ValidationFailed
from envelopes.models.ids import public_id
from envelopes.protocol.exact import check_exact
from envelopes.protocol.parts import Part, from_pydantic
from envelopes.protocol.rows import SHAPES
from envelopes.protocol.strict_json import parse_strict
from envelopes.protocol.text import UNSAFE
from envelopes.records.lines import (
    FILE_BYTES,
    KINDS,
    LINE_BYTES,
    LINES,
    STATES,
    ApprovalLine,
    BytesLine,
    CallLine,
    ConversationLine,
    DecisionLine,
    EndLine,
    EventLine,
    FileLine,
    Line,
    ParticipantLine,
    StateLine,
    TurnLine,
    VersionLine,
)
from envelopes.registries.part_types import part_types

_ID = re.compile(r"(?<![0-9a-z])[0-9a-z]{26}(?![0-9a-z])")


@dataclass
class Read:
    """What a file holds, with new ids for everything that has one."""

    conversation: ConversationLine
    participants: list[ParticipantLine] = field(default_factory=list)
    turns: list[TurnLine] = field(default_factory=list)
    calls: list[CallLine] = field(default_factory=list)
    approvals: list[ApprovalLine] = field(default_factory=list)
    versions: list[VersionLine] = field(default_factory=list)
    decisions: list[DecisionLine] = field(default_factory=list)
    states: list[StateLine] = field(default_factory=list)
    events: list[EventLine] = field(default_factory=list)
    files: list[FileLine] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)


def read(source: Iterable[bytes]) -> Read:
    """What the lines of ``source`` hold. Raises ``ValidationFailed``, with the number of the line as ``line``, for
    anything that an export of this format does not write."""
    lines = list(_whole(source))
    ids = _new_ids(lines)
    new = frozenset(ids.values())
    found: Read | None = None
    for number, text in enumerate(lines, 1):
        try:
            line = _checked(_ID.sub(lambda match: ids.get(match[0], match[0]), text))
            if hasattr(line, "id") and line.id not in new:
                # It stands otherwise than an export writes it, and would have been kept.
                raise ValidationFailed("It has no id where an export has one.", path="/id")  # noqa: TRY301
            if isinstance(line, ConversationLine) == (found is not None):
                raise ValidationFailed("The first line, and no other, is the conversation.")  # noqa: TRY301
            if isinstance(line, ConversationLine):
                found = Read(line)
            else:
                _take(cast("Read", found), line)
        except ValidationFailed as error:
            raise ValidationFailed(
                f"Line {number}: {error.message}", **{**error.facts, "line": number}
            ) from error
    if found is None:
        raise ValidationFailed("This holds no conversation.")
    _check_whole(found)
    return found


def _whole(source: Iterable[bytes]) -> Iterator[str]:
    """The lines before the last one, which vouches for them."""
    digest, count, size = hashlib.sha256(), 0, 0
    end: EndLine | None = None
    for raw in source:
        size += len(raw)
        if len(raw) > LINE_BYTES or count > LINES or size > FILE_BYTES:
            raise ValidationFailed(
                f"This is too large: a line has at most {LINE_BYTES:,} bytes, a file {LINES:,} lines and"
                f" {FILE_BYTES:,} bytes.",
                line=count + 1,
            )
        if end is not None:
            raise ValidationFailed("There is more behind the last line.", line=count + 2)
        try:
            text = raw.decode()
        except UnicodeDecodeError as error:
            raise ValidationFailed("This is no UTF-8.", line=count + 1) from error
        if text.startswith('{"kind": "end"'):
            line = _checked(text)
            end = line if isinstance(line, EndLine) else None
            continue
        digest.update(raw)
        count += 1
        yield text
    if end is None:
        raise ValidationFailed("The file ends too early: its last line is missing.")
    if (end.lines, end.sha256) != (count, digest.hexdigest()):
        raise ValidationFailed(
            "The file was changed, or is not whole: its last line does not fit the others."
        )


def _new_ids(lines: list[str]) -> dict[str, str]:
    """A new id for each that a line gives to its conversation, turn, approval or file."""
    given = [
        match[1]
        for text in lines
        if (
            match := re.match(
                r'\{"kind": "(?:conversation|turn|approval|version|file)"(?:, "format": 1)?, "id": "([0-9a-z]{26})"',
                text,
            )
        )
    ]
    if len(set(given)) != len(given):
        raise ValidationFailed("Two of its lines have the same id.")
    return {old: public_id() for old in given}


def _checked(text: str) -> Line:
    value = parse_strict(text, limit=LINE_BYTES, depth=80)
    kind = value.get("kind") if isinstance(value, dict) else None
    model = KINDS.get(kind) if isinstance(kind, str) else None
    if model is None:
        raise ValidationFailed("This is no line of a conversation.", path="/kind", allowed=list(KINDS))
    _check_text(value)
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise from_pydantic(error) from error


def _check_text(value: Any) -> None:
    """What a database would not keep as it is: NUL and other controls, halves of characters."""
    if isinstance(value, dict):
        for name, item in value.items():
            _check_text(name)
            _check_text(item)
    elif isinstance(value, list):
        for item in value:
            _check_text(item)
    elif isinstance(value, str) and UNSAFE.search(value):
        raise ValidationFailed("There are characters in it that cannot be kept.")


def _take(found: Read, line: Line) -> None:
    state = getattr(line, "state", getattr(line, "status", None))
    allowed = STATES.get(str(getattr(line, "kind", "")))
    if allowed is not None and state not in allowed:
        raise ValidationFailed("There is no such state.", path="/state", allowed=list(allowed))
    match line:
        case EventLine():
            _check_event(found, line)
            found.events.append(line)
        case FileLine():
            found.files.append(line)
            found.contents[line.id] = b""
        case BytesLine():
            _add_bytes(found, line)
        case CallLine():
            check_exact(line.args)
            found.calls.append(line)
        case ApprovalLine():
            check_exact(line.args)
            found.approvals.append(line)
        case VersionLine() | DecisionLine():
            _add_about(found, line)
        case TurnLine():
            found.turns.append(line)
        case ParticipantLine():
            found.participants.append(line)
        case StateLine():
            found.states.append(line)


def _add_about(found: Read, line: VersionLine | DecisionLine) -> None:
    if not found.approvals or found.approvals[-1].id != line.approval:
        raise ValidationFailed("This is about no question before it.", path="/approval")
    if isinstance(line, VersionLine):
        check_exact(line.args)
        found.versions.append(line)
    else:
        found.decisions.append(line)


def _add_bytes(found: Read, line: BytesLine) -> None:
    if not found.files or found.files[-1].id != line.file:
        raise ValidationFailed("These bytes belong to no file before them.", path="/file")
    try:
        found.contents[line.file] += base64.b64decode(line.base64, validate=True)
    except binascii.Error as error:
        raise ValidationFailed("This is no Base64.", path="/base64") from error
    if len(found.contents[line.file]) > found.files[-1].sizeBytes:
        raise ValidationFailed("The file is larger than it says.", path="/base64")


def _check_event(found: Read, line: EventLine) -> None:
    if line.seq != len(found.events) + 1:
        raise ValidationFailed(
            "The numbers of its log have a gap.", path="/seq", expected=len(found.events) + 1
        )
    shape: Any = SHAPES.get(line.event)
    if shape is None:
        raise ValidationFailed("There is no such kind of row.", path="/event", allowed=list(SHAPES))
    hints = get_type_hints(shape, include_extras=True)
    wanted = {key for key, hint in hints.items() if shape.__total__ and get_origin(hint) is not NotRequired}
    wrong = sorted((line.data.keys() - hints.keys()) | (wanted - line.data.keys()))
    if wrong:
        raise ValidationFailed(
            f"A row of kind {line.event!r} is not made so: {', '.join(wrong[:5])}.", path="/data"
        )
    if line.event == "part":
        _check_part(line)
    elif line.partType:
        raise ValidationFailed("Only parts have a part type.", path="/partType")


def _check_part(line: EventLine) -> None:
    try:
        part = Part.model_validate(line.data["part"])
    except ValidationError as error:
        raise from_pydantic(error, "/data/part") from error
    if part.part_type != line.partType:
        raise ValidationFailed("The row and its part are of two types.", path="/partType")
    kind = part_types.get(part.part_type)
    if kind is None or kind.data_model is None or part.data is None:
        return
    try:
        kind.data_model.model_validate(part.data)
    except ValidationError as error:
        raise from_pydantic(error, "/data/part/data") from error


def _check_whole(found: Read) -> None:
    """What lines say of each other."""
    head = found.conversation
    numbers = [turn.number for turn in found.turns]
    calls = {(call.turn, call.callId): call for call in found.calls}
    asked = [(approval.turn, approval.callId) for approval in found.approvals]
    problems = {
        "Its log is not as long as it says.": len(found.events) != head.events,
        "Its turns are not as many as it says.": sorted(numbers) != list(range(1, head.turns + 1)),
        "A row belongs to a turn that is not there.": any(event.turn > head.turns for event in found.events),
        "A turn goes on with one that is not there, or with itself.": any(
            other > head.turns or other == turn.number
            for turn in found.turns
            for other in (turn.passedTo, turn.delegatedFrom, turn.joined)
        ),
        "Turns go on with each other in a circle, or two with one.": _is_tangled(found.turns),
        "A call belongs to a turn that is not there.": any(
            not 1 <= call.turn <= head.turns for call in found.calls
        ),
        "Two calls have the same id.": len(calls) != len(found.calls),
        "Two questions are about one call.": len(set(asked)) != len(asked),
        "A question is about a call that is not there, or another one.": any(
            (call := calls.get(key)) is None
            or (call.name, call.digest) != (approval.toolName, approval.digest)
            for key, approval in zip(asked, found.approvals, strict=True)
        ),
        "Two versions of a question have the same number.": _repeats(
            (one.approval, one.version) for one in found.versions
        ),
        "Somebody has decided twice.": _repeats(
            (one.approval, one.version, one.by) for one in found.decisions
        ),
        "Two values of its state have the same name.": len({one.name for one in found.states})
        != len(found.states),
        "A file is not what it says.": any(
            (len(content), hashlib.sha256(content).hexdigest()) != (file.sizeBytes, file.sha256)
            for file in found.files
            for content in [found.contents[file.id]]
        ),
    }
    for sentence, is_so in problems.items():
        if is_so:
            raise ValidationFailed(sentence)


def _repeats(keys: Iterable[tuple[object, ...]]) -> bool:
    listed = list(keys)
    return len(set(listed)) != len(listed)


def _is_tangled(turns: list[TurnLine]) -> bool:
    passed = [turn.passedTo for turn in turns if turn.passedTo]
    if len(set(passed)) != len(passed):
        return True
    for name in ("passedTo", "delegatedFrom"):
        following = {turn.number: getattr(turn, name) for turn in turns}
        for start in following:
            seen, at = set(), start
            while at:
                if at in seen:
                    return True
                seen.add(at)
                at = following.get(at, 0)
    return False
