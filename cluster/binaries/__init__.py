"""The pinned programs, manifests and images that a cluster is made of: built once, cached, bundled.

`cluster.binaries.cache.ensure` is the way in. Nothing is imported here, because
`python3 -m cluster.binaries.packages` must run on a bare Python.
"""
