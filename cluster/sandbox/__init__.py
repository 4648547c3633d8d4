"""A sandbox: namespaces, a root file system, a cgroup and a network of its own, and the learner's place in it."""
