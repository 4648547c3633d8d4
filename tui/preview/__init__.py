"""A lab while it is written, drawn by the learner's own widgets."""
