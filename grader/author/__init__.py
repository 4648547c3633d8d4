"""What helps who writes a lab: a lab to begin with, what its text leaves out or gives away, what a check expects.

Owns nothing but these looks at a lab; a lab's format is `grader.lab`'s, and proving one `grader.verify`'s.
"""
