"""The one-time steps between components: what is applied, awaited and patched while a machine comes up.

A step knows the API and nothing of processes. It is safe to carry out twice, since some are repeated when a
component is restarted (`Component.before`). Their order is `cluster.plan`'s.
"""
