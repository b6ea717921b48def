"""Files of a session: bytes in a storage, rows that say whose they are, ``artifact`` parts that refer to them.

The bytes are there before the row (``stored``), so no row is ever without them; what a crash leaves without a row is
found by ``sweep``. Names of files in the storage are made up here: nothing that anybody sent is part of a path.
"""

from envelopes.artifacts.attaching import enclose
from envelopes.artifacts.checking import checked, referred
from envelopes.artifacts.storing import Stored, Sweep, kept, put, remove, stored, sweep
from envelopes.artifacts.unnamed import FORGOTTEN_AT_ONCE, forget_unnamed
from envelopes.artifacts.writing import Chunk, begin, check_size, found, read, record, reference, whole

__all__ = [
    "FORGOTTEN_AT_ONCE",
    "Chunk",
    "Stored",
    "Sweep",
    "begin",
    "check_size",
    "checked",
    "enclose",
    "forget_unnamed",
    "found",
    "kept",
    "put",
    "read",
    "record",
    "reference",
    "referred",
    "remove",
    "stored",
    "sweep",
    "whole",
]
