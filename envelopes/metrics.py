"""What this process counts for whoever watches it: turns, models, what they take. Numbers and names only.

In the registry of ``prometheus_client``, where an application may add its own; ``/metrics`` has them. Each process
counts for itself, as its scraper expects.
"""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

from envelopes.costs import taken

TURNS = Counter("beach_turns_total", "Turns that were settled", ["actor", "ended"])
SECONDS = Histogram(
    "beach_turn_seconds",
    "From when a turn was asked for until it was settled, waiting for people included",
    ["actor"],
    buckets=(0.5, 1, 2, 5, 10, 20, 60, 300, 1800),
)
FAILURES = Counter("beach_model_failures_total", "Requests to models that failed", ["kind", "again"])
TOKENS = Counter("beach_model_tokens_total", "Tokens of models", ["model", "direction"])
COST = Counter("beach_model_cost_total", "What replies of models cost, in BEACH_CURRENCY", ["model"])
TOOL_THREADS = Gauge("beach_tool_threads", "Threads that run tools")
TOOL_THREADS_LEFT = Gauge("beach_tool_threads_left", "Those of them whose call is over and that do not end")
REFUSED = Counter("beach_messages_refused_total", "Messages of people who sent too many", ["limit"])


KINDS = 100
"""How many kinds of failures are told apart: the words for them are the other side's."""

_kinds: set[str] = set()


def model_failed(kind: str, *, again: bool) -> None:
    if kind not in _kinds and len(_kinds) >= KINDS:
        kind = "other"
    _kinds.add(kind)
    FAILURES.labels(kind, "yes" if again else "no").inc()


def settled(actor: str, ended: str, seconds: float) -> None:
    TURNS.labels(actor, ended).inc()
    SECONDS.labels(actor).observe(max(0.0, seconds))


def replied(model: str, usage: object, cost: float | None) -> None:
    found = taken(usage)
    for direction, count in (
        ("read", found.read),
        ("cached", found.cached + found.kept),
        ("written", found.written),
    ):
        if count:
            TOKENS.labels(model, direction).inc(count)
    if cost:
        COST.labels(model).inc(cost)
