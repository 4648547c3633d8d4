"""The kinds of mistakes that lint finds, with names that stay and what an author should know of each.

Owns these names; which mistake is of which kind is said where it is found (`grader.lab.problems.under`).
"""

from __future__ import annotations

from cluster.i18n import _

RULE_IDS = (
    "unreadable",
    "unknown-file",
    "markdown",
    "front-matter",
    "check-block",
    "step-without-check",
    "start-object",
    "script",
    "work-files",
    "prerequisite",
    "prose",
    "translation",
    "solution",
    "wrong-answer",
    "unmentioned-command",
    "exception",
    "article",
)


def rules() -> dict[str, tuple[str, str]]:
    """Each kind of mistake by its id: what it is called, and what to know of it, in the language in force."""
    return {
        "unreadable": (
            _("A file can't be read"),
            _("Every file of a lab is UTF-8 text of at most 1 MiB; some have to be there."),
        ),
        "unknown-file": (
            _("A file that nothing reads"),
            _("Mostly a name that is misspelt: only the files that docs/authoring.md names are read."),
        ),
        "markdown": (
            _("Structure of the text"),
            _("Front matter, steps with ids, fenced blocks and hints have to be well formed."),
        ),
        "front-matter": (
            _("Front matter"),
            _("The keys between the two lines --- are a closed set, and their values have to fit together."),
        ),
        "check-block": (
            _("Check block"),
            _("Each check has an id, a sentence and one kind; its keys, templates and references must be right."),
        ),
        "step-without-check": (
            _("A step without a check"),
            _("Nothing tells a learner, or an instructor, that the step is done."),
        ),
        "start-object": (
            _("Object of start/"),
            _("Objects that exist when the learner arrives must be such that the cluster takes them."),
        ),
        "script": (
            _("Scripts of checks"),
            _("A check names a script of scripts/ that bash, or what its first line names, can read; each is named."),
        ),
        "work-files": (
            _("Files for the work folder"),
            _("files/ holds files and folders, no links, and not too much of them."),
        ),
        "prerequisite": (
            _("Labs to do before"),
            _("`after` names labs that stand beside this one, without a circle."),
        ),
        "prose": (
            _("Words of the text"),
            _("Links lead to steps, code blocks name a language, steps and introduction have words."),
        ),
        "translation": (
            _("Another language"),
            _("A translation has the same steps, checks, hints and commands as the English text."),
        ),
        "solution": (
            _("Solutions"),
            _("Each step has one script that solves it, and bash can read it."),
        ),
        "wrong-answer": (
            _("Wrong answers"),
            _("Each folder of wrong/ names the check that must fail, and has a script."),
        ),
        "unmentioned-command": (
            _("A command the text never mentions"),
            _("A learner who reads everything up to this step must have met each command that its solution needs."),
        ),
        "exception": (
            _("Declared exception"),
            _("exceptions.yaml excuses what looks like a defect; each needs a reason, and has to excuse something."),
        ),
        "article": (_("Article"), _("Articles have a fixed form: see docs/articles.md.")),
    }
