"""The screens, each from what a learner sees to what its keys do."""
