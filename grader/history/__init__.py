"""What the cluster went through: every change of the recorded kinds, in one SQLite file per session.

Owns the recorder, its store and its reader; knows no labs and no checks.
"""
