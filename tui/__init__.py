"""The learner's application: a Textual program over `grader`. Nothing in `grader` or `cluster` imports it."""
