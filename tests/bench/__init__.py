"""Benchmarks of real machines: `python -m tests.bench` (docs/benchmarks.md says what each figure means).

Measures and prints; judges nothing. Knows the product only as its users do: the `grader` command,
`cluster.local`, and what /proc says of processes.
"""
