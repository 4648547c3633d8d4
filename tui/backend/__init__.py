"""What the screens may ask of `grader`: the port, and the data that comes back."""
