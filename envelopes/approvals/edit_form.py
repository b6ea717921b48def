"""The form in which a question is edited, for the pages that show it: the chat's and the admin's."""

from __future__ import annotations

from collections.abc import Mapping

from envelopes.access import Principal
from envelopes.approvals.editing import edit, tool_to_edit
from envelopes.errors import ValidationFailed
from envelopes.markup.argument_form import ArgumentForm
from envelopes.models import Approval


def form_of(approval: Approval) -> ArgumentForm:
    """The arguments as they stand. Raises ``Conflict`` and ``Forbidden``, as ``editing.tool_to_edit`` does."""
    tool, _policy = tool_to_edit(approval)
    return ArgumentForm.of(tool.definition()["input_schema"], tool.fields, approval.args)


def submitted(
    approval: Approval, who: Principal, asked_as: str, sent: Mapping[str, str], *, source: str
) -> ArgumentForm | Approval:
    """Edit the question that ``who`` was shown as ``asked_as``; the form again, with what is wrong, where it cannot be.
    Raises what ``editing.edit`` does otherwise: whoever edits what has been changed meanwhile is told so."""
    form = form_of(approval).read(sent)
    if not form.is_readable:
        return form
    try:
        return edit(asked_as, form.args, who, source=source)
    except ValidationFailed as error:
        return form.refused(error)
