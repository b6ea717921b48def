"""docs/operating.md: an agent of one's own in production, each piece of the page run."""
