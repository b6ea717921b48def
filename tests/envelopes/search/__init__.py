"""Finding a conversation: what is kept of it, on both databases, and how it is looked up."""
