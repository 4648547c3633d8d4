"""Parts that drafts are made of, whatever they came from: checks by script, set-up, solutions, what is always there.

Owns the scripts that are written around those of a source; knows no format.
"""

from __future__ import annotations

import posixpath
import re
import shlex

from cluster.i18n import _
from cluster.spec import ADDON_NEEDS, NEVER_TOGETHER
from grader.importing import machine, shell
from grader.importing.draft import CheckDraft, LabDraft, StepDraft, one_line
from grader.importing.ledger import Place
from grader.importing.moves import move_exchanged, warn_of_outside
from grader.importing.quiz import FILE as ANSWERS
from grader.importing.quiz import Question
from grader.lab.frontmatter import never_together

DONE = "done.txt"
"""Where a learner says that a step is done which nothing checks."""
MOST_SECONDS = 120
_SPOKEN_OF = {
    "jobset": re.compile(r"jobset\.x-k8s\.io"),
    "lws": re.compile(r"leaderworkerset\.x-k8s\.io"),
    "kueue": re.compile(r"kueue\.x-k8s\.io"),
    "trainer": re.compile(r"trainer\.kubeflow\.org"),
    "mpi-operator": re.compile(r"(?<![\w.])kubeflow\.org/v2beta1\b"),
    "training-operator": re.compile(r"(?<![\w.])kubeflow\.org/v1\b"),
}
"""Add-on → how a text speaks of its objects."""
_WITHIN = 10
_DONE_WORD = ('echo "done"', "echo 'done'", "echo done")


def check_script(
    lab: LabDraft,
    step: StepDraft,
    name: str,
    text: str,
    place: Place,
    what: str,
    *,
    check_id: str,
    says: str,
    prelude: str = "",
    hint: str = "",
    fail: str = "",
    seconds: int = 30,
    wants_done: bool = False,
) -> CheckDraft:
    """A check of `step` by the script `text`, which becomes scripts/`name`.

    `prelude`: shell before it; `hint`, `fail`: names of scripts beside it, the one said when it fails, the other asked
    before. `wants_done`: what counts is that it says done.
    """
    path = lab.free(f"scripts/{name}")
    warn(lab, text, place, may_change=False)
    lab.verified.append((text, place))
    file = posixpath.basename(path)
    lab.add_text(path, readable(lab, text, place) if text.strip() else "exit 0")
    if prelude or hint or fail or wants_done:
        inner, outer = file, lab.free(f"scripts/check-{check_id}.sh")
        lab.add_text(outer, _around(inner, prelude=prelude, hint=hint, fail=fail, wants_done=wants_done))
        file = posixpath.basename(outer)
    check = CheckDraft(check_id, says, {"script": {"file": file, "seconds": min(max(seconds, 1), MOST_SECONDS)}})
    check.within = _WITHIN
    if wants_done:
        lab.ledger.approximated(place, what, path, _("it passes where it ends with 0 and says done"))
    else:
        lab.ledger.converted(place, what, path)
    if seconds > MOST_SECONDS:
        reason = _("a check may take {most} s, not {seconds}").format(most=MOST_SECONDS, seconds=seconds)
        lab.ledger.approximated(place, what, path, reason)
    step.checks.append(check)
    return check


def readable(lab: LabDraft, text: str, place: Place) -> str:
    """A script that bash can read; one that it can't is there as words, and says so when it is run."""
    said = shell.wrong(text)
    if not said:
        return text
    lab.ledger.unmapped(place, posixpath.basename(place.file), _("bash can't read it: {said}").format(said=said))
    return f"{shell.as_comment(text)}\necho 'bash cannot read this script of the source'\nexit {shell.NOT_RUN}"


def says_done(text: str) -> bool:
    """Whether a script reports success by a word, as Katacoda's first ones did."""
    return any(word in text for word in _DONE_WORD)


def set_up(lab: LabDraft, name: str, text: str, place: Place, what: str) -> None:
    """A script that runs before the learner arrives, after those that were added before it."""
    number = 10 * (1 + sum(path.startswith("start/") for path in lab.files))
    path = lab.free(f"start/{number:02}-{name}.sh")
    warn(lab, text, place, may_change=True)
    left = machine.without_lacking(text)
    if not any(line.strip() and not line.lstrip().startswith(("#", ":")) for line in left.split("\n")):
        reason = _("a script that does nothing") if left == text else _("nothing of it can work here")
        lab.ledger.unmapped(place, what, reason)
        return
    if said := shell.wrong(left):
        lab.ledger.unmapped(place, what, _("bash can't read it: {said}").format(said=said))
        return
    lab.add_text(path, left)
    if left == text:
        lab.ledger.converted(place, what, path)
    else:
        lab.ledger.approximated(place, what, path, _("lines that can't work here are left out"))


def for_the_learner(lab: LabDraft, step: StepDraft, text: str, place: Place, what: str) -> str:
    """A block by which the learner runs what the platform ran when the step was opened."""
    warn(lab, text, place, may_change=True)
    end = "SETUP"
    while end in text.split("\n"):
        end += "_"
    code = f"bash <<'{end}'\n{machine.at_home(text.strip(chr(10)), always=True)}\n{end}"
    step.stage += f"{code}\n"
    reason = _("nothing runs when a step is opened: the learner runs it, and sees what it does")
    lab.ledger.approximated(place, what, "lab.md", reason)
    tick = "`" * 3
    while tick in code:
        tick += "`"
    return "First set the stage of this step:" + f"\n\n{tick}bash run\n{code}\n{tick}\n"


def warn(lab: LabDraft, text: str, place: Place, *, may_change: bool) -> None:
    """Tell each line of a script that can't work where it will run."""
    for number, reason in machine.lacking(text, may_change=may_change):
        line = text.split("\n")[number - 1].strip()
        lab.ledger.unmapped(Place(place.file, place.line + number - 1 if place.line else number), line[:100], reason)


def complete(lab: LabDraft, per_step: int = 10) -> None:
    """Give every step what a lab's step must have, and the lab its length."""
    for step in lab.steps:
        if not step.checks:
            _say_so(lab, step)
        if not step.body.strip():
            step.body = _as_words(step.title)
        step.hints += step.answers
    _add_ons(lab)
    move_exchanged(lab, frozenset(lab.spared))
    for text, place in lab.verified:
        warn_of_outside(lab, text, place, frozenset(lab.spared))
    for number, step in enumerate(lab.steps, start=1):
        _solve(lab, step, number)
    if not lab.minutes:
        lab.minutes = min(600, per_step * len(lab.steps))
        lab.ledger.approximated(
            lab.place, "minutes", "lab.md", _("the source names no time: ten minutes for each step")
        )
    if not lab.intro.strip():
        lab.intro = _as_words(lab.title)


def _add_ons(lab: LabDraft) -> None:
    """Controllers whose objects the lab speaks of: there is no network to install them from."""
    texts = [lab.intro, *(part for step in lab.steps for part in (step.body, step.solution, *step.hints))]
    texts += [file.data.decode(errors="replace") for name, file in lab.files.items() if not name.startswith("assets/")]
    spoken_of = [addon for addon, words in _SPOKEN_OF.items() if any(map(words.search, texts))]
    needed = {other for addon in spoken_of for other in ADDON_NEEDS.get(addon, ())}
    for addon in _SPOKEN_OF:
        pair = next((pair for pair in NEVER_TOGETHER if addon in pair and set(pair) & set(lab.addons)), None)
        if addon in spoken_of and pair:
            lab.ledger.unmapped(lab.place, addon, never_together(*pair))
        elif addon in spoken_of or addon in needed:
            lab.addons.append(addon)
            reason = _("the lab speaks of its objects: the add-on is there from the beginning")
            if addon not in spoken_of:
                reason = _("another add-on of the lab needs it")
            lab.ledger.approximated(lab.place, addon, "lab.md", reason)


def _as_words(title: str) -> str:
    """A title as a sentence, where there is no other text; braces would be taken for an id."""
    return f"{title.replace('{#', '{ #')}."


def check_questions(step: StepDraft, questions: list[Question]) -> None:
    """A check of the answers to the questions of a step."""
    answered = {question.key: question.answer for question in questions if question.answer is not None}
    if not answered:
        return
    file = f"{step.id}-{ANSWERS}"
    step.body = step.body.replace(f"`{ANSWERS}`", f"`{file}`")
    says = f"{file} has the right answers"
    step.checks.append(CheckDraft(f"{step.id}-answers", says, {"answer": {"file": file, "fields": answered}}))
    lines = "\n".join(f"{key}={value}" for key, value in answered.items())
    step.solution += f"cat > {shlex.quote(file)} <<'EOF'\n{lines}\nEOF\n"


def _say_so(lab: LabDraft, step: StepDraft) -> None:
    command = f"echo {step.id} >> {DONE}"
    step.body = step.body.rstrip("\n") + "\n\n" + "When you are through with this step, say so:"
    step.body += f"\n\n```bash run\n{command}\n```"
    says = "{file} says that the step {title} is done".format(file=DONE, title=f"'{one_line(step.title)}'")
    step.checks.append(CheckDraft(f"{step.id}-done", says, {"file": {"file": DONE, "lines": [step.id]}}))
    step.solution = f"{command}\n"
    reason = _("the source checks nothing here: the learner says when it is done")
    lab.ledger.approximated(step.place, step.title[:60], "lab.md", reason)


def _solve(lab: LabDraft, step: StepDraft, number: int) -> None:
    path = f"solution/{number:02}-{step.id}.sh"
    if any(line.strip() and not line.lstrip().startswith("#") for line in step.solution.split("\n")):
        script = machine.at_home(step.stage + step.solution, always=True)
        if said := shell.wrong(script):
            lab.ledger.unmapped(step.place, path, _("bash can't read it: {said}").format(said=said))
            script = f"{shell.as_comment(script)}\necho 'bash cannot read the solution of the source' >&2\nexit 1"
        lab.add_text(path, script)
        return
    lab.add_text(path, "echo 'the source has no solution of this step: write one' >&2\nexit 1")
    reason = _("the source has no solution: {path} has to be written").format(path=path)
    lab.ledger.unmapped(step.place, step.title[:60], reason)


def _around(inner: str, *, prelude: str, hint: str, fail: str, wants_done: bool) -> str:
    lines = ["# Around the script of the source, which stands beside this one."]
    lines += [prelude.rstrip("\n")] if prelude else []
    if fail:
        lines.append(f'bash "$BATCHLAB_SCRIPTS/{fail}" || exit 1')
    if wants_done:
        lines += [
            f'said=$(bash "$BATCHLAB_SCRIPTS/{inner}" 2>&1)',
            "code=$?",
            "printf '%s\\n' \"$said\"",
            'case "$code $said" in "0 "*done*) ;; *) code=1 ;; esac',
        ]
    else:
        lines += [f'bash "$BATCHLAB_SCRIPTS/{inner}"', "code=$?"]
    if hint:
        lines.append(f'[ "$code" = 0 ] || bash "$BATCHLAB_SCRIPTS/{hint}"')
    return "\n".join([*lines, 'exit "$code"'])
