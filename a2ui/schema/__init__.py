"""What the official schemas ask for, as functions: a shape for each kind of value, a signature for each call."""
