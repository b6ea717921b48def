"""Wire shapes of the protocol: what an agent may send, what goes back."""
