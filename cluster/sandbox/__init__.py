"""A sandbox: namespaces, root file system, cgroup and network of its own, and the learner's place in it."""
