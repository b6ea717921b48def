"""Models' APIs on loopback, for tests: real clients talk to them over real sockets, and no model is asked.

``FakeMessagesApi`` speaks Anthropic's Messages API, ``FakeChatApi`` OpenAI's chat completions; ``Reply`` and
``Refusal`` say what they answer, in the same words for both. Nothing here needs Django.
"""

from envelopes.fakes.chat_api import FakeChatApi
from envelopes.fakes.messages_api import FakeMessagesApi
from envelopes.fakes.replies import (
    Redacted,
    Refusal,
    Reply,
    Text,
    Thinking,
    Tool,
    call,
    overloaded,
    respond,
    said,
)
from envelopes.fakes.server import Recorded, serving

__all__ = [
    "FakeChatApi",
    "FakeMessagesApi",
    "Recorded",
    "Redacted",
    "Refusal",
    "Reply",
    "Text",
    "Thinking",
    "Tool",
    "call",
    "overloaded",
    "respond",
    "said",
    "serving",
]
