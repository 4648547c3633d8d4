"""Sessions: one running lab of one learner, from `grader start` to `grader stop`.

Owns the session folder and the commands' flows; knows nothing of how a cluster is made or what a check means.
"""
