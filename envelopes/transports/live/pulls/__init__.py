"""Pull channels (reading, 5.6): a channel with a ``source`` carries what a tool gives when it is polled.

``Pulls`` has those of one connection; ``polling`` asks a tool once; ``sanitising`` says what a failure may tell.
"""

from envelopes.transports.live.pulls.channels import Pulls

__all__ = ["Pulls"]
