"""What the Messages API demands of a request, as far as it decides what a client must send."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

_TOOL = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_CALL = re.compile(r"[a-zA-Z0-9_-]+")
_PATHS = ("/v1/messages", "/v1/messages/count_tokens")
_EFFORTS = ("low", "medium", "high", "xhigh", "max")

SAMPLED = "claude-haiku-4-5"
"""A model that takes a temperature; newer ones refuse it."""


def signature(thinking: str) -> str:
    """The signature that the fake puts under a thinking block, and wants back under the same words."""
    return "sig" + hashlib.sha256(thinking.encode()).hexdigest()[:24]


def problem_of(path: str, headers: Mapping[str, str], body: Any) -> tuple[int, str, str] | None:
    """``(status, error type, message)`` of the first thing that the API would refuse, or None."""
    path = path.split("?", maxsplit=1)[0]
    if path not in _PATHS:
        return 404, "not_found_error", f"No {path}."
    key = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
    if not key or key == "wrong":
        return 401, "authentication_error", "invalid x-api-key"
    found = next(_problems(headers, body, streams=path == _PATHS[0]), None)
    return None if found is None else (400, "invalid_request_error", found)


def _problems(headers: Mapping[str, str], body: Any, *, streams: bool) -> Iterator[str]:
    if not headers.get("anthropic-version"):
        yield "anthropic-version: header is required"
    if not isinstance(body, dict):
        yield "The body is no JSON object."
        return
    if not isinstance(body.get("model"), str):
        yield "model: required"
    if streams:
        yield from _reply(body)
    elif body.keys() - {"model", "messages", "system", "tools", "tool_choice", "thinking", "cache_control"}:
        yield "count_tokens: Extra inputs are not permitted"
    if body.get("tool_choice", {"type": "auto"})["type"] not in ("auto", "none"):
        yield "tool_choice: this model does not support forced tool use"
    for block in body.get("system", ()):
        if not block["text"].strip():
            yield "system: text content blocks must be non-empty"
    if _marks(body) > 4:
        yield "A maximum of 4 blocks with cache_control may be provided."
    yield from _tools(body.get("tools", []))
    yield from _messages(body.get("messages"))


def _reply(body: dict[str, Any]) -> Iterator[str]:
    if not isinstance(body.get("max_tokens"), int) or body["max_tokens"] < 1:
        yield "max_tokens: required"
    for name in ("temperature", "top_p", "top_k"):
        if name in body and not (name == "temperature" and body.get("model") == SAMPLED):
            yield f"{name}: not supported by this model"
    if body.get("output_config", {}).get("effort", "high") not in _EFFORTS:
        yield "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'"
    if body.get("stream") is not True:
        yield "stream: this fake only streams"


def _marks(value: Any) -> int:
    if isinstance(value, dict):
        return ("cache_control" in value) + sum(_marks(item) for item in value.values())
    return sum(_marks(item) for item in value) if isinstance(value, list) else 0


def _tools(tools: list[dict[str, Any]]) -> Iterator[str]:
    names = [tool.get("name", "") for tool in tools]
    if len(set(names)) != len(names):
        yield "tools: Tool names must be unique."
    for number, tool in enumerate(tools):
        if not _TOOL.fullmatch(names[number]):
            yield f"tools.{number}.name: String should match pattern"
        if tool.get("input_schema", {}).get("type") != "object":
            yield f"tools.{number}.input_schema.type: Field required"


def _messages(messages: Any) -> Iterator[str]:
    if not isinstance(messages, list) or not messages:
        yield "messages: at least one message is required"
        return
    if messages[-1]["role"] == "assistant":
        yield "This model does not support assistant message prefill."
    asked: list[str] = []
    seen: set[str] = set()
    for number, message in enumerate(messages):
        where = f"messages.{number}"
        if message["role"] != ("assistant" if number % 2 else "user"):
            yield f"{where}: roles must alternate between user and assistant, beginning with user"
        blocks = message["content"]
        if isinstance(blocks, str):
            blocks = [{"type": "text", "text": blocks}]
        if not blocks:
            yield f"{where}: all messages must have non-empty content"
        yield from _answers(where, blocks, asked)
        asked = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if seen & set(asked) or len(set(asked)) != len(asked):
            yield f"{where}: tool_use ids must be unique"
        seen.update(asked)
        for block in blocks:
            yield from _block(where, block, message["role"])


def _answers(where: str, blocks: list[dict[str, Any]], asked: list[str]) -> Iterator[str]:
    answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    if missing := set(asked) - set(answered):
        yield f"{where}: tool_use ids were found without tool_result blocks: {', '.join(sorted(missing))}"
    if unknown := set(answered) - set(asked):
        yield f"{where}: unexpected tool_use_id found in tool_result blocks: {', '.join(sorted(unknown))}"
    if len(set(answered)) != len(answered):
        yield f"{where}: each tool_use must have a single result"
    if any(block["type"] != "tool_result" for block in blocks[: len(answered)]):
        yield f"{where}: tool_result blocks must come first"


def _block(where: str, block: dict[str, Any], role: str) -> Iterator[str]:
    match block["type"]:
        case "text":
            if not block["text"].strip():
                yield f"{where}: text content blocks must contain non-whitespace text"
        case "tool_use":
            if (
                role != "assistant"
                or not isinstance(block["input"], dict)
                or not _CALL.fullmatch(block["id"])
            ):
                yield f"{where}: bad tool_use block"
        case "tool_result":
            if role != "user" or not isinstance(block["content"], (str, list)):
                yield f"{where}: bad tool_result block"
        case "thinking":
            if role != "assistant" or block.get("signature") != signature(block["thinking"]):
                yield f"{where}: `thinking` blocks cannot be modified"
        case "redacted_thinking":
            pass
        case other:
            yield f"{where}: Input tag '{other}' found using 'type' does not match any of the expected tags"
