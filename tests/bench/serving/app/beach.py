"""The bench's agent."""

from __future__ import annotations

from envelopes.registries.actors import actors
from tests.bench.serving.app.actor import BENCH

actors.register(BENCH)
