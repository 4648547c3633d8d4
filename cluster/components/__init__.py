"""The supervised programs as data: one pure function per program, from a `MachineConfig` to a `Component`.

Nothing here starts a process, opens a socket or writes a file; `cluster.plan` orders them and
`cluster.supervisor` runs them.
"""
