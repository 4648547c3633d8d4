"""What happened in a lab, as bars over time: from the history to a picture.

Owns the model of a timeline (`model`), how it is made of recorded changes (`build`), and its forms for people
(`text`, `svg`) and programs (`document`). Knows nothing of Textual, of sessions, or of what is right.
"""

from __future__ import annotations
