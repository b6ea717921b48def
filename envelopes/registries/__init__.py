"""Open registries: part types, turn states, tools, actors, transports, approval doors. Beside them the state machines,
closed ones."""
