"""A cluster as it is now, on one page: nodes, groups, queues, pods and events.

Owns the model of the board (`model`), how it is made of objects (`build`), where these come from (`feed`), and its
form for a terminal (`text`). Knows nothing of Textual, or of what is right in a lab.
"""

from __future__ import annotations
