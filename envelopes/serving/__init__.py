"""What a process does as a server: background work that starts and ends with it, probes, garbage, and how daphne holds
back what nobody reads.
"""
