"""A scenario of Killercoda or Katacoda: `index.json` (or `index.yaml`) with its texts, scripts and assets.

Owns the keys of that file, in both dialects, and what becomes of each; how their markdown is read is `prose`'s.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from cluster.i18n import _
from grader.importing import machine, parts
from grader.importing.assets import Assets
from grader.importing.draft import LabDraft, StepDraft, one_line, slug, unique
from grader.importing.fit import Where, fit
from grader.importing.ledger import Place
from grader.importing.moves import rename
from grader.importing.pictures import Pictures
from grader.importing.places import Document, Pointer, shown
from grader.importing.prose import Page, read_page
from grader.importing.tree import Tree, UnreadableError

_ABOUT = ("description", "difficulty", "pathwayTitle", "author", "icon", "level", "tags", "credits", "type")
"""Facts that a lab has no key for; its README keeps them."""
_SCREEN = {
    "environment": "environment",
    "interface": "interface",
    "files": "files",
    "private": "private",
    "noindex": "noindex",
    "layout": "layout",
    "theme": "theme",
}
_BACKGROUND, _FOREGROUND = ("background", "courseData"), ("foreground", "code")
_MINUTES = re.compile(r"\d+")


class Scenario:
    """One pass over one index."""

    def __init__(self, tree: Tree, folder: str, index: Document, lab: LabDraft) -> None:
        self.tree, self.folder, self.index, self.lab = tree, folder, index, lab
        self.file = lab.place.file
        self.pictures = Pictures(tree, lab, (folder, posixpath.join(folder, "assets").lstrip("/"), ""))
        self.handled: set[Pointer] = set()
        self.read: set[str] = {self.file}
        value = index.value
        self.value: dict[str, Any] = value if isinstance(value, dict) else {}
        self.katacoda = is_katacoda(self.value)

    # -- small things -----------------------------------------------------------------------------------

    def place(self, pointer: Pointer) -> Place:
        return Place(self.file, self.index.line(pointer))

    def get(self, pointer: Pointer, kind: type) -> Any:
        """What stands there, where it is of that kind; told where it is of another."""
        value: Any = self.value
        for part in pointer:
            if (isinstance(value, dict) and part in value) or (isinstance(value, list) and isinstance(part, int)):
                value = value[part]  # type: ignore[index]  # either holds it, or it is a list's number
            else:
                return None
        if value is None or value in ("", [], {}):
            self.mark(pointer)
            return None
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            names = {"str": _("text"), "dict": _("a mapping"), "list": _("a list")}
            reason = _("must be {kind}").format(kind=names[kind.__name__])
            self.lab.ledger.unmapped(self.place(pointer), shown(pointer), reason)
            self.mark(pointer)
            return None
        return value

    def mark(self, pointer: Pointer) -> None:
        """It has been told what becomes of it and of what it holds."""
        self.handled.add(pointer)

    def text_of(self, pointer: Pointer) -> tuple[str, str] | None:
        """(file, its text) that a key names; told where it can't be had."""
        name = self.get(pointer, str)
        if name is None:
            return None
        self.mark(pointer)
        try:
            path = self.tree.join(self.folder, name)
            found = self.tree.text(path)
        except UnreadableError as error:
            what = f"{shown(pointer)}: {name[:80]}"
            self.lab.ledger.unmapped(self.place(pointer), what, _("the file {why}").format(why=error))
            return None
        self.read.add(path)
        if found.guessed:
            reason = _("it is no UTF-8: read as Latin-1")
            self.lab.ledger.approximated(Place(path), path, "lab.md", reason)
        return path, found.text

    # -- the whole --------------------------------------------------------------------------------------

    def convert(self) -> LabDraft:
        """Everything, in the order of the lab."""
        lab, ledger = self.lab, self.lab.ledger
        title = self.get(("title",), str)
        lab.title = one_line(title or "", posixpath.basename(self.folder) or lab.id)
        self.mark(("title",))
        ledger.converted(self.place(("title",)), "title", "lab.md") if title else ledger.approximated(
            lab.place, "title", "lab.md", _("the source has no title: the folder's name")
        )
        self._about()
        self._machine()
        assets = Assets(self.tree, self.folder, lab)
        for host, entries in (self.get(("details", "assets"), dict) or {}).items():
            for number in range(len(entries) if isinstance(entries, list) else 0):
                pointer: Pointer = ("details", "assets", host, number)
                entry = self.get(pointer, dict)
                self.mark(pointer)
                if entry is not None:
                    assets.add(entry, host, self.place(pointer), shown(pointer))
        self.read |= assets.read
        intro = self._section(("details", "intro"), into_step=False)
        steps = self.get(("details", "steps"), list) or []
        lab.intro = self._intro(intro)
        self._set_up(("details", "intro"), "intro")
        taken: set[str] = set()
        for number in range(len(steps)):
            self._step(number, taken)
        self._finish(taken)
        self._rest()
        rename(lab, assets.moved)
        return lab

    def _about(self) -> None:
        lab, ledger = self.lab, self.lab.ledger
        for key in _ABOUT:
            if (value := self.value.get(key)) not in (None, "", [], {}):
                lab.about.append((key, one_line(value)))
                self.mark((key,))
                if key == "description":
                    ledger.converted(self.place((key,)), key, "lab.md, README.md")
                else:
                    ledger.approximated(self.place((key,)), key, "README.md", _("a lab has no such key: noted there"))
        time = self.value.get("time")
        if time is not None:
            self.mark(("time",))
            numbers = [int(word[:6]) for word in _MINUTES.findall(str(time))]
            hours = re.search(r"\bh(ou)?rs?\b|\bhour", str(time), re.IGNORECASE)
            if numbers:
                lab.minutes = min(600, max(1, numbers[-1] * (60 if hours and not re.search("min", str(time)) else 1)))
                ledger.converted(self.place(("time",)), "time", "lab.md")
            else:
                ledger.unmapped(self.place(("time",)), "time", _("no number of minutes in it"))
        for key in _SCREEN:
            if key in self.value:
                self.mark((key,))
                reason = _("how the screen is laid out is the application's business")
                for pointer in self.index.leaves((key,), self.value[key]):
                    ledger.unmapped(self.place(pointer), shown(pointer), reason)

    def _machine(self) -> None:
        ledger = self.lab.ledger
        image = self.get(("backend", "imageid"), str) or ""
        self.mark(("backend", "imageid"))
        for key in set(self.get(("backend",), dict) or {}) - {"imageid"}:
            self.mark(("backend", key))
            reason = _("nothing of the lab is on the web")
            ledger.unmapped(self.place(("backend", key)), f"backend.{key}", reason)
        self.lab.nodes = machine.nodes(image)
        self.lab.about.append(("imageid", one_line(image)))
        place = self.place(("backend", "imageid"))
        if machine.is_cluster(image):
            reason = _("a cluster of fake nodes: pods of every image are shown as running, no container runs")
            ledger.approximated(place, f"backend.imageid: {image}", "lab.md", reason)
        else:
            reason = _("no machine of this image: the lab has a shell and a cluster with a fake node")
            ledger.approximated(place, f"backend.imageid: {image or '-'}", "lab.md", reason)

    # -- texts and scripts ------------------------------------------------------------------------------

    def _section(self, pointer: Pointer, *, into_step: bool) -> Page | None:
        if self.get(pointer, dict) is None:
            return None
        found = self.text_of((*pointer, "text"))
        if found is None:
            return None
        page = read_page(found[0], found[1], self.lab, self.pictures, runs=into_step)
        self.lab.ledger.converted(self.place((*pointer, "text")), shown((*pointer, "text")), "lab.md")
        return page

    def _intro(self, page: Page | None) -> str:
        pointer = ("details", "intro")
        said = [page.body] if page and page.body else []
        for key in ("title", "credits"):
            if value := self.get((*pointer, key), str):
                self.mark((*pointer, key))
                self.lab.about.append((f"intro.{key}", one_line(value)))
                reason = _("a lab has no such key: noted there")
                self.lab.ledger.approximated(self.place((*pointer, key)), shown((*pointer, key)), "README.md", reason)
            else:
                self.mark((*pointer, key))
        said += [*page.hints, *page.answers] if page else []
        if not said and (about := self.value.get("description")):
            said = [one_line(about)]
        return "\n\n".join(said)

    def _scripts(self, pointer: Pointer) -> list[tuple[str, str, Pointer]]:
        """(file, text, pointer) of the scripts that run when a section is opened: first those behind the scenes."""
        if self.get(pointer, dict) is None:
            return []
        found = [(self.text_of((*pointer, key)), (*pointer, key)) for key in (*_BACKGROUND, *_FOREGROUND)]
        return [(one[0], one[1], where) for one, where in found if one]

    def _set_up(self, pointer: Pointer, name: str) -> None:
        for file, text, where in self._scripts(pointer):
            what = f"{shown(where)} ({file})"
            parts.set_up(self.lab, f"{name}-{where[-1]}".lower(), text, Place(file, 1), what)

    def _step(self, number: int, taken: set[str]) -> None:
        pointer: Pointer = ("details", "steps", number)
        if self.get(pointer, dict) is None:
            return
        title = one_line(self.get((*pointer, "title"), str) or "", f"Step {number + 1}")
        self.mark((*pointer, "title"))
        step_id = slug(title, f"step-{number + 1}")
        if step_id in taken:
            reason = _("two steps have this title: the second one's id has a number")
            self.lab.ledger.approximated(self.place((*pointer, "title")), title[:60], "lab.md", reason)
        step = StepDraft(unique(step_id, taken), title, self.place(pointer))
        self.lab.steps.append(step)
        self.lab.ledger.converted(step.place, f"{shown(pointer)}: {title[:60]}", "lab.md")
        page = self._section(pointer, into_step=True) or Page()
        opening = ""
        if number == 0:
            self._set_up(pointer, step.id)
        else:
            for file, text, where in self._scripts(pointer):
                what = f"{shown(where)} ({file})"
                opening += parts.for_the_learner(self.lab, step, text, Place(file, 1), what) + "\n"
        if not self.value["details"]["steps"][number].get("text"):
            self.lab.ledger.approximated(
                step.place, title[:60], "lab.md", _("the step has no text: its title stands there")
            )
        step.body = opening + page.body
        verify = self.text_of((*pointer, "verify"))
        hint = self._hint(pointer, step)
        step.hints += page.hints
        step.answers += page.answers
        self._answers(pointer, step)
        if verify:
            self._verify(step, verify, hint, shown((*pointer, "verify")))
        self._solution(step, page)
        parts.check_questions(step, page.questions)

    def _verify(self, step: StepDraft, verify: tuple[str, str], hint: str, what: str) -> None:
        file, text = verify
        says = "what step {title} asks for is done".format(title=f"'{step.title}'")
        parts.check_script(
            self.lab,
            step,
            f"verify-{step.id}.sh",
            text,
            Place(file, 1),
            f"{what} ({file})",
            check_id=f"{step.id}-verified",
            says=says,
            hint=hint,
            wants_done=self.katacoda and parts.says_done(text),
        )

    def _hint(self, pointer: Pointer, step: StepDraft) -> str:
        """The name of a script that says a hint when the check fails; a hint in markdown becomes one of the step's."""
        if words := self._words((*pointer, "hint")):
            step.hints.append(words)
            return ""
        found = self.text_of((*pointer, "hint"))
        if found is None:
            return ""
        file, text = found
        what = f"{shown((*pointer, 'hint'))} ({file})"
        if file.endswith(".sh"):
            path = self.lab.free(f"scripts/hint-{step.id}.sh")
            self.lab.add_text(path, parts.readable(self.lab, text, Place(file, 1)) or "true")
            reason = _("it is said where the check fails, not asked for")
            self.lab.ledger.approximated(Place(file, 1), what, path, reason)
            return posixpath.basename(path)
        page = read_page(file, text, self.lab, self.pictures, runs=False)
        if page.body:
            step.hints.append(page.body)
        self.lab.ledger.converted(Place(file, 1), what, "lab.md")
        return ""

    def _words(self, pointer: Pointer) -> str:
        """What stands at a key that usually names a file, where it is plainly a text itself."""
        said = self.get(pointer, str)
        if said is None or " " not in said.strip() or said.strip().endswith((".md", ".sh")):
            return ""
        self.mark(pointer)
        self.lab.ledger.converted(self.place(pointer), shown(pointer), "lab.md")
        return fit(said, Where(self.place(pointer)), self.lab.ledger, runs=False)

    def _answers(self, pointer: Pointer, step: StepDraft) -> None:
        """Katacoda's `answer` and what others call `solution`: a text, or a script."""
        for key in ("answer", "solution"):
            if words := self._words((*pointer, key)):
                step.answers.append(words)
                continue
            found = self.text_of((*pointer, key))
            if found is None:
                continue
            file, text = found
            what = f"{shown((*pointer, key))} ({file})"
            if file.endswith(".sh"):
                step.solution = text
                tick = "`" * max(3, *(len(run) + 1 for run in re.findall("`{3,}", text)), 3)
                step.answers.append(f"{tick}bash\n{machine.at_home(text.strip(chr(10)))}\n{tick}")
                self.lab.ledger.converted(Place(file, 1), what, "lab.md, solution/")
                continue
            page = read_page(file, text, self.lab, self.pictures, runs=True)
            step.solution = "".join(f"{command}\n" for command in page.commands) or page.solution
            if page.body:
                body = page.body.replace("```bash run", "```bash")
                step.answers += [body] if not any(body in other for other in step.answers) else []
            self.lab.ledger.converted(Place(file, 1), what, "lab.md, solution/")

    def _solution(self, step: StepDraft, page: Page) -> None:
        """The solution that is told, else the commands that the text lets the learner run."""
        if page.solution and not step.solution:
            step.solution = page.solution
        elif page.commands and step.checks and not step.solution.strip():
            step.solution = "".join(f"{command}\n" for command in page.commands)
            reason = _("made of the commands that the text runs: try it with grader verify")
            self.lab.ledger.approximated(step.place, f"solution of {step.id}", "solution/", reason)

    def _finish(self, taken: set[str]) -> None:
        pointer: Pointer = ("details", "finish")
        lab = self.lab
        if not lab.steps:
            step = StepDraft(unique("work-through", taken), "Work through it", lab.place)
            step.body = "Do what the introduction says."
            lab.steps.append(step)
            lab.ledger.approximated(lab.place, "details.steps", "lab.md", _("no steps: one is made of the whole"))
        page = self._section(pointer, into_step=True)
        title = one_line(self.get((*pointer, "title"), str) or "", "At the end")
        self.mark((*pointer, "title"))
        if page and page.body:
            last = lab.steps[-1]
            last.body = f"{last.body.rstrip()}\n\n### {title}\n\n{page.body}"
            last.hints += [*page.hints, *page.answers]
            reason = _("a lab ends with its last step: the text stands there")
            lab.ledger.approximated(self.place(pointer), shown(pointer), "lab.md", reason)
        for file, _text, where in self._scripts(pointer):
            lab.ledger.unmapped(Place(file, 1), f"{shown(where)} ({file})", _("nothing runs after the last step"))
        if credit := self.get((*pointer, "credits"), str):
            self.mark((*pointer, "credits"))
            lab.about.append(("finish.credits", one_line(credit)))
            lab.ledger.approximated(
                self.place((*pointer, "credits")), shown((*pointer, "credits")), "README.md", _("noted there")
            )

    # -- what is left -----------------------------------------------------------------------------------

    def _rest(self) -> None:
        """Keys that nothing was said of, and files that no key names."""
        for line, problem in self.index.problems:
            self.lab.ledger.unmapped(Place(self.file, line), posixpath.basename(self.file), problem)
        for pointer in self.index.repeated:
            self.lab.ledger.unmapped(
                self.place(pointer), shown(pointer), _("it stands there twice: the last one counts")
            )
        for pointer in self.index.leaves():
            if not any(pointer[:end] in self.handled for end in range(1, len(pointer) + 1)):
                self.lab.ledger.unmapped(self.place(pointer), shown(pointer), _("no such key is documented"))
        known = self.read | self.pictures.used
        for name in self.tree.own_files(self.folder):
            if name not in known:
                self.lab.ledger.unmapped(Place(name), posixpath.basename(name), _("no key of the index names it"))


def is_katacoda(index: dict[str, Any]) -> bool:
    """Whether an index speaks Katacoda's dialect."""
    text = repr(index)
    words = ("environment", "pathwayTitle", "difficulty", "time", "icon", "files", "private", "noindex", "type")
    return any(word in index for word in words) or "'courseData'" in text or "'code'" in text
