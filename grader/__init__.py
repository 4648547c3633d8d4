"""Labs, checks, history, sessions, progress, reports and the `grader` command; knows no Textual."""
