"""``python -m tests.bench.desk``: every page of the desk, with as much in the database as a large site has."""
