"""Sally's interfaces: each a function from data to A2UI v0.9 messages."""
