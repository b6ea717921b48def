"""The real SDK alone reading streams: ``python -m tests.bench.serving.sdk_alone URL STREAMS HZ SPREAD WARM SECONDS``.

They begin one after the other within SPREAD seconds, as those of the server do: events of streams that began together
come together, and are read for less.

Prints JSON: seconds of processor time an event, and events a second.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

import anthropic


class Reading:
    """What has been read so far."""

    events = 0

    async def one(self, client: anthropic.AsyncAnthropic, words: str) -> None:
        stream = await client.messages.create(
            model="bench", max_tokens=10, messages=[{"role": "user", "content": words}], stream=True
        )
        async for _ in stream:
            self.events += 1


async def main(url: str, streams: int, hz: float, spread: float, warm: float, seconds: float) -> None:
    client = anthropic.AsyncAnthropic(api_key="sk-bench", base_url=url, max_retries=0, timeout=60)
    reading, words = Reading(), f"sdk {spread + warm + seconds + 30:g} {hz:g}"
    tasks = []
    for _ in range(streams):
        tasks.append(asyncio.create_task(reading.one(client, words)))
        await asyncio.sleep(spread / streams)
    await asyncio.sleep(warm + 1)
    used, began, before = time.process_time(), time.monotonic(), reading.events
    await asyncio.sleep(seconds)
    used, took, events = time.process_time() - used, time.monotonic() - began, reading.events - before
    failed = [task.exception() for task in tasks if task.done()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    if failed or not events:
        raise SystemExit(f"{len(failed)} of {streams} streams broke off: {failed[:1]}")
    sys.stdout.write(json.dumps({"cost": used / events, "a_second": events / took}))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), *map(float, sys.argv[3:7])))
