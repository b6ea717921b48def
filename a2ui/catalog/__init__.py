"""What a component is, as a definition: kinds of properties, actions, what the engine asks of a component type,
catalogs, and what strict mode refuses. How components look is in `catalog.basic`."""
