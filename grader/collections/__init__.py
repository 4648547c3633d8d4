"""Collections of labs by other people: fetched within bounds, pinned to what they hold, run only once accepted.

Owns where they come from, where they are kept and what trust in them means; knows nothing of what a lab says
(`grader.lab`) or how one is run (`grader.session`).
"""
