"""What a learner reads before a lab, and in what order: articles, courses and the glossary, from `content/`.

Owns their format, reading, linting and how an article is laid out; knows nothing of sessions, clusters or the
command line.
"""
