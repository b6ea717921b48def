"""The demo's agent in a laboratory: the same model, tools and flows, held wherever a test wants to break something."""
