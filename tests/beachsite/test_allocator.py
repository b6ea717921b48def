"""Threads of a server share one heap, and what was used once is given back."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc alone has heaps of threads")

_THREADS = """
import ctypes, sys, threading
from envelopes.serving import allocator
if sys.argv[1] == "shared":
    allocator.share()
there = threading.Barrier(4)
def work():
    held = [bytearray(20_000) for _ in range(50)]
    there.wait()
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
sys.stderr.flush()
ctypes.CDLL(None).malloc_stats()
"""

_FREED = """
from pathlib import Path
from envelopes.serving import allocator
def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
kept = []
for _ in range(400):
    large = [bytearray(20_000) for _ in range(5)]
    kept.append(bytearray(2_000))
    if len(kept) == 1:
        all_of_it = []
    all_of_it.append(large)
full = resident()
all_of_it = large = None
allocator.trim()
print((full - resident()) // 2**20)
"""


def _run(code: str, *words: str) -> subprocess.CompletedProcess[str]:
    root = Path(__file__).parents[2]
    return subprocess.run(
        [sys.executable, "-c", code, *words], cwd=root, capture_output=True, text=True, timeout=60, check=True
    )


@pytest.mark.parametrize(("how", "alone"), [("shared", True), ("apart", False)])
def test_threads_share_a_heap(how: str, alone: bool) -> None:
    heaps = _run(_THREADS, how).stderr.count("Arena ")
    assert (heaps == 1) is alone


def test_memory_that_is_free_between_what_is_used_goes_back() -> None:
    assert int(_run(_FREED).stdout) >= 30
