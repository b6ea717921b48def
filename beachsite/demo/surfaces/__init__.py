"""Sally's interfaces: each a function from data to A2UI 1.0 messages."""
