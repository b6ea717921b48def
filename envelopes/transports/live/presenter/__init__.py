"""What rows mean on the live channel: what each delivers, on which channels, and the envelopes of that."""
