"""Warm starts: what a first start of a cluster put into its datastore, kept, and given to later machines.

A snapshot belongs to a recipe (`recipe.py`), is one file (`archive.py`) in the user's cache (`shelf.py`), and is
made the machine's own before it is restored (`renewal.py`): other UIDs, other times. It holds what every machine of
the recipe has in common; keys of users and components, nodes, pods, events and leases are each machine's own.
"""
