"""Settings of models: whose they are, how they are asked, what they may read, take and cost. ``conf`` has them among
all others."""

from __future__ import annotations

from envelopes.setting import choice as _choice
from envelopes.setting import number as _number
from envelopes.setting import number_or_none as _number_or_none
from envelopes.setting import prices as _prices
from envelopes.setting import text as _text
from envelopes.setting import whole as _whole
from envelopes.setting import whole_or_zero as _whole_or_zero


class ModelSettings:
    """Each attribute is the setting of its name."""

    ANTHROPIC_API_KEY = _text()
    """The key of the Messages API."""

    ANTHROPIC_BASE_URL = _text()
    """Another address of the Messages API."""

    BEACH_CONTEXT_MODEL = _text("claude-haiku-4-5")
    """The fast second model that says for other agents' models what an answer means (``llm-context``)."""

    BEACH_CONTEXT_SECONDS = _number(10.0)
    """How long the end of a turn waits for that."""

    BEACH_CURRENCY = _text("USD")
    """What prices are in."""

    BEACH_ADDRESS_DAY_COST = _number(0.0, zero=True)
    """What answers to guests from one address may cost in a day, in ``BEACH_CURRENCY``; 0 for no bound. Days begin at
    midnight in ``TIME_ZONE``."""

    BEACH_DAY_COST = _number(0.0, zero=True)
    """What all answers of the site may cost in a day; 0 for no bound."""

    BEACH_EFFORT = _choice("", "none", "minimal", "low", "medium", "high", "xhigh", "max")
    """How much a model thinks before it answers, where it lets us say; "" for its own. Which of these words a model
    knows is its own as well."""

    BEACH_HISTORY_TOKENS = _whole(50_000)
    """How many tokens of earlier turns a model reads, about; with more, half as many."""

    BEACH_MAX_CORRECTIONS = _whole(3)
    """How often a model is told what was wrong with its call, in a turn."""

    BEACH_MAX_STEPS = _whole(24)
    """How often a model is asked in a turn."""

    BEACH_MAX_TOKENS = _whole(16_000)
    """The longest reply of a model, in its tokens."""

    BEACH_MESSAGES_PER_ADDRESS = _whole_or_zero(300)
    """How many messages and clicks of people, from one address, are answered in a minute; 0 for no bound."""

    BEACH_MESSAGES_PER_MINUTE = _whole_or_zero(30)
    """How many messages and clicks of one person or guest are answered in a minute; 0 for no bound."""

    BEACH_MODEL = _text("claude-sonnet-5-5")
    """The model that answers."""

    BEACH_MODEL_RETRIES = _whole_or_zero(4)
    """How often in a row a model that failed for a passing reason is asked again."""

    BEACH_MODEL_RETRY_SECONDS = _number(120.0)
    """The longest wait before that, also where the model's side asks for a longer one: then it is not asked again."""

    BEACH_OPENAI_MODEL = _text()
    """The model behind ``providers.openai``."""

    BEACH_PERSON_DAY_COST = _number(0.0, zero=True)
    """What answers to one person or guest may cost in a day; 0 for no bound."""

    BEACH_PRICES = _prices()
    """What a million tokens cost, by model: ``{"claude-sonnet-5-5": {"input": 3, "output": 15, "cache_read": 0.3,
    "cache_write": 3.75}}``. A name counts for all models whose names begin with it."""

    BEACH_PROXIES = _whole_or_zero(0)
    """How many proxies of ours stand in front, each of which adds to X-Forwarded-For who it was asked by."""

    BEACH_REASONING = _choice("staff", "audit", "off")
    """What becomes of a model's thinking: shown to staff, kept where only the database is read, or not kept."""

    BEACH_REQUEST_TOKENS = _whole(180_000)
    """How many tokens one request to a model may have, where its provider does not say: its window, less the longest
    reply."""

    BEACH_RESULT_CHARACTERS = _whole(20_000)
    """How much of the result of a tool a model reads at once; of a longer one it gets the beginning, and asks for
    more."""

    BEACH_RESULT_KEPT_CHARACTERS = _whole(4_000_000)
    """How many characters of JSON are kept of the result of a tool; a longer one is not taken."""

    BEACH_SCRIPT_PACE = _number(900.0, zero=True)
    """Characters a second that the scripted model writes; 0 for all at once."""

    BEACH_TEMPERATURE = _number_or_none()
    """How freely a model chooses its words; None does not say, and newer models of Claude refuse it."""

    BEACH_TURN_COST = _number(0.0, zero=True)
    """What the replies of a turn may cost together, in ``BEACH_CURRENCY``; 0 for no bound. Of models that have a
    price."""

    BEACH_TURN_TOKENS = _whole_or_zero(0)
    """How many tokens the models of a turn may read and write together; 0 for no bound."""

    OPENAI_API_KEY = _text()
    """The key of an API of chat completions."""

    OPENAI_BASE_URL = _text()
    """The address of a server that speaks OpenAI's chat completions, with ``/v1``; "" for OpenAI's own."""
