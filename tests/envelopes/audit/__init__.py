"""The decision log: what is recorded, the chain, its guards, export, retention and erasure."""
