"""The record of a session: what was checked and what came of it, in a chain that shows whoever changes it.

What it proves and what it can't is in docs/class.md. `chain` owns the form of entries and how they are examined, `keys`
the keys, `journal` the file of a session, `seal` a whole report. Nobody here knows how a check works or what a report
looks like to people.
"""

from __future__ import annotations
