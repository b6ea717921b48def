"""What rows do to approval cards: the question, the decision, the outcome, the end of the turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envelopes.delivery.panel.approval import Approval

if TYPE_CHECKING:
    from envelopes.delivery.panel.scene import Scene

TOOL_STATES = {
    "approved": "running",
    "running": "running",
    "succeeded": "done",
    "done": "done",
    "failed": "failed",
    "unknown": "unknown",
    "denied": "denied",
}
FINAL = ("done", "failed", "denied", "expired", "unknown", "withdrawn")


def request(scene: Scene) -> None:
    """An approval-request part. Two cards for one question would be two answers: a repeat only redraws the first."""
    known = _find(scene, str(scene.data.get("approvalId") or ""), None)
    if known is not None:
        return
    about = {key: value for key, value in scene.metadata.items() if key != "partType"}
    scene.canvas.add(scene.segment(), Approval(scene.new_id(), scene.row.actor, scene.data, about))


def respond(scene: Scene) -> None:
    """An approval-response part."""
    data = scene.data
    card = _find(scene, str(data.get("approvalId") or ""), None)
    if card is None or card.state != "pending":
        return
    # The part says who for the record, as a key; people get the name that stands beside it, if there is one.
    name = str(scene.metadata.get("decidedByName") or "")
    card.decided_by = "" if name == "you" else name
    card.source = str(scene.metadata.get("source") or "")
    card.decided_at = scene.at
    card.reason = str(data.get("reason") or "")
    if data.get("decision") == "granted":
        card.state = "running"
    else:
        card.state = "expired" if card.reason == "expired" else "denied"
    scene.canvas.touch(card)


def outcome(scene: Scene) -> None:
    """A tool row: what became of the call. It may still come after the turn has settled."""
    data = scene.row.data
    card = _find(scene, str(data.get("approvalId") or ""), str(data.get("callId") or ""))
    state = TOOL_STATES.get(str(data.get("state")))
    if card is None or state is None or card.state in ("denied", "expired"):
        return
    if card.state in FINAL and state == "running":
        return
    card.state = state
    if state != "pending" and not card.decided_at:
        card.decided_at = scene.at
    card.summary = _sentence(data.get("summary"))
    card.error = _sentence(data.get("error"))
    scene.canvas.touch(card)


def close(scene: Scene, turn: int) -> None:
    """The turn settled: its open questions are void, and what still ran has no known end."""
    for card in scene.canvas.each(Approval):
        home = scene.canvas.home(card)
        if home is None or home.turn != turn or card.state not in ("pending", "running"):
            continue
        card.state = "withdrawn" if card.state == "pending" else "unknown"
        scene.canvas.touch(card)


def _find(scene: Scene, approval_id: str, call_id: str | None) -> Approval | None:
    for card in scene.canvas.each(Approval):
        if approval_id and card.approval_id == approval_id:
            return card
        if not approval_id and call_id and card.call.get("toolCallId") == call_id:
            return card
    return None


def _sentence(value: object) -> str:
    """``summary`` is a sentence; ``error`` may be one, or an error as the log holds it."""
    if isinstance(value, dict):
        value = value.get("message")
    return value.strip() if isinstance(value, str) else ""
