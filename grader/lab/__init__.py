"""The lab format: from a lab's folder to a `Lab`, with every mistake named by file, line and column.

Owns parsing, the catalogue, lint and the published JSON Schema; knows no cluster, session or report.
"""
