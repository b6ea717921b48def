"""Wire shapes: parts and their payloads, the respond() tool, rows of the log, targets; how texts and JSON are checked.

The envelope is put together in ``delivery.envelope``."""
