from __future__ import annotations

import os

from django.apps import AppConfig


class BenchConfig(AppConfig):
    name = "tests.bench.serving.app"
    label = "bench"

    def ready(self) -> None:
        from tests.bench.serving.app import counting

        if os.environ.get("BENCH_COUNT"):
            counting.install()
