"""The app as it is served, beside floors that are measured in the same run: ``python -m tests.bench.serving``.

A server runs on the first core in a process of its own (`server`, `processes`) on a scratch database (`database`),
the client on the last one in this process (`client`). `app` is what the server has beside the product: an actor on a
script, and a door through which the bench starts background jobs and reads counters. Rows by subject: `updates`,
`turns`, `statements`, `streams`, `sockets`, `pages`, `memory`; what they are measured against: `floors`. Only public
ways into the product are used: sockets, HTTP, management commands, registries, models.
"""
