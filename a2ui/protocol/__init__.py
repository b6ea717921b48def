"""The messages of v0.9 and the ids of catalogs; other versions, translated to these, are in `protocol.adapters`."""
