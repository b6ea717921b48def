"""Documents and patch documents (seed 003): their formats, envelopes and published schemas, and webhooks.

What an application may import is named here: a part that shows a document, for its agents and tools; a queue of patches
for programs that draw documents; and what it takes to receive a webhook of another Beach, or of anybody who sends the
same envelope.
"""

from envelopes.transports.documents.formats.errors import DocumentError
from envelopes.transports.documents.formats.queue import PatchQueue
from envelopes.transports.documents.parts import document_part
from envelopes.transports.documents.webhooks.receiving import Nonces, check_webhook, verify_webhook

__all__ = ["DocumentError", "Nonces", "PatchQueue", "check_webhook", "document_part", "verify_webhook"]
