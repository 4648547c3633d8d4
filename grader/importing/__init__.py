"""Labs of other platforms, made into labs of ours: Killercoda and Katacoda scenarios, iximiuz-style challenges.

Owns the reading of those formats and what becomes of each thing in them; nothing is dropped without a word. Knows no
cluster and no session. What is read was written by anybody: files are text or bytes to copy, and nothing of it runs.
"""
