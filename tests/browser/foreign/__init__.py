"""A front end that is not ours: the official Lit renderer on the live channel, and an agent for it."""
