"""PID 1 of a sandbox: starts the plan's tasks, restarts what crashes, answers on the control socket."""
