"""Open registries: part types, turn states, tools, actors, surface templates."""
