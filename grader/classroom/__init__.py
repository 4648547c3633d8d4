"""A class: the reports of many learners, put side by side.

`reading` finds the reports of a folder and says which count, `standing` what a record tells of one learner in one lab,
`figures` what that is in sum; `text`, `csv`, `document` and `page` are the forms it comes in. Nobody here trusts a
report: whoever wrote one could have put anything into it.
"""

from __future__ import annotations
