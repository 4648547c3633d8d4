"""The learner's shell beside the application: a pane of tmux, or the terminal itself for a while."""
