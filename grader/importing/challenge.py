"""An iximiuz-style challenge or tutorial: one markdown file with tasks in its front matter.

Owns the keys of the front matter, the components of the text and what becomes of each; tasks are `tasks`'s.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from cluster.i18n import _
from cluster.spec import NodeSpec
from grader.importing import machine, parts
from grader.importing.components import Component, after_row, inline_attributes, pieces
from grader.importing.draft import LabDraft, StepDraft, one_line, slug, unique
from grader.importing.fit import Where, fit
from grader.importing.ledger import Place
from grader.importing.pictures import Pictures
from grader.importing.places import Document, Pointer, shown
from grader.importing.tasks import Tasks
from grader.importing.tree import Tree, UnreadableError
from grader.lab.markdown import front_matter

KINDS = ("challenge", "tutorial")
"""What is converted; the other kinds of that platform are collections of these, or texts."""
_ABOUT = (
    *("description", "categories", "tagz", "tagSlugs", "tags", "difficulty", "createdAt", "updatedAt", "cover"),
    *("author", "authors", "name", "slug", "channels"),
)
_HEADING = re.compile(r"##[ \t]+(?P<title>.+?)[ \t]*#*[ \t]*\Z")
_INLINE = re.compile(r"(?<![\w:]):(?P<name>[a-z][a-z-]*-inline|badge|icon)(?P<attributes>\{[^}]*\})")
_ANSWERS = re.compile(r"\|\s*examinerctl\s+task\s+input\s+(?P<task>[\w-]+)[^\n]*")
_WAITS = re.compile(r"^(?P<indent>[ \t]*)examinerctl\s+task\s+wait\b[^\n]*$", re.MULTILINE)
_SHELL_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})\s*(?:sh|bash|shell|console)?\s*(?:[\[{]|$)")
_TASKS = ("simple-task", "user-input-task", "quiz-task")
_CLUSTERS = {"k3s": ["cplane-01", "node-01", "node-02"], "k8s": ["cplane-01", "node-01", "node-02"]}


class Challenge:
    """One pass over one file."""

    def __init__(self, tree: Tree, file: str, matter: Document, body: str, first_line: int, lab: LabDraft) -> None:
        self.tree, self.file, self.matter, self.lab = tree, file, matter, lab
        self.folder = posixpath.dirname(file)
        self.pictures = Pictures(tree, lab, (self.folder, ""))
        self.rows = [(row, first_line + number) for number, row in enumerate(body.split("\n"))]
        self.read = {file}
        self.tasks = Tasks(file, matter, lab)
        self.shown_tasks: set[str] = set()

    def place(self, pointer: Pointer) -> Place:
        return Place(self.file, self.matter.line(pointer))

    def convert(self) -> LabDraft:
        """Everything, in the order of the lab."""
        lab = self.lab
        value = self.matter.value
        lab.title = one_line(value.get("title") or "", lab.id)
        lab.ledger.converted(self.place(("title",)), "title", "lab.md")
        lab.ledger.converted(self.place(("kind",)), f"kind: {value.get('kind')}", "lab.md")
        for line, problem in self.matter.problems:
            lab.ledger.unmapped(Place(self.file, line), _("front matter"), problem)
        self._about()
        self._playground()
        self._find_inputs()
        self.tasks.set_up()
        self._steps()
        self._hidden_tasks()
        self._solutions()
        self._rest()
        return lab

    # -- front matter -----------------------------------------------------------------------------------

    def _about(self) -> None:
        lab, value = self.lab, self.matter.value
        for key in _ABOUT:
            if (found := value.get(key)) in (None, "", [], {}):
                continue
            said = ", ".join(map(str, found)) if isinstance(found, list) else found
            lab.about.append((key, one_line(said)))
            reason = _("a lab has no such key: noted there")
            lab.ledger.approximated(self.place((key,)), key, "README.md", reason)
        if isinstance(cover := value.get("cover"), str) and cover:
            try:
                lab.ledger.converted(self.place(("cover",)), f"cover: {cover}", self.pictures.copy(cover, self.file))
            except UnreadableError as error:
                lab.ledger.unmapped(
                    self.place(("cover",)), f"cover: {cover[:60]}", _("the file {why}").format(why=error)
                )
        for key in value:
            if key in ("kind", "title", "tasks", "playground", *_ABOUT):
                continue
            reason = _("no such key is documented")
            if key == "challenges":
                reason = _("labs don't embed others: convert those challenges, too, and name them in 'after'")
            for pointer in self.matter.leaves((key,), value[key]):
                lab.ledger.unmapped(self.place(pointer), shown(pointer), reason)

    def _playground(self) -> None:
        lab, ledger = self.lab, self.lab.ledger
        raw = self.matter.value.get("playground")
        playground: dict[str, Any] = raw if isinstance(raw, dict) else {"name": raw} if isinstance(raw, str) else {}
        name = str(playground.get("name", ""))
        lab.about.append(("playground", one_line(name)))
        place = self.place(("playground", "name"))
        machines = playground.get("machines")
        named = (
            [str(one["name"]) for one in machines if isinstance(one, dict) and "name" in one]
            if isinstance(machines, list)
            else []
        )
        if cluster := next((names for word, names in _CLUSTERS.items() if word in name.lower()), None):
            wanted = [one for one in named if "dev" not in one] or cluster
            lab.nodes = [_node(one) for one in dict.fromkeys(slug(one, "node") for one in wanted)]
            reason = _("a cluster of fake nodes: pods of every image are shown as running, no container runs")
        else:
            lab.nodes = [NodeSpec(name="node01", taint=False)]
            reason = _("no machine of this playground: the lab has a shell and a cluster with a fake node")
        ledger.approximated(place, f"playground.name: {name or '-'}", "lab.md", reason)
        for key, inner in playground.items():
            if key == "name":
                continue
            for pointer in self.matter.leaves(("playground", key), inner):
                ledger.unmapped(self.place(pointer), shown(pointer), _why_not(str(key)))

    # -- text -------------------------------------------------------------------------------------------

    def _find_inputs(self) -> None:
        """Which tasks ask the learner for something: their scripts have to know the file before they are written."""
        for piece in pieces(self.rows):
            if isinstance(piece, Component) and piece.name == "user-input-task":
                name = piece.attributes.get("name", "")
                self.tasks.inputs[name] = f"{slug(name, 'answer')}.txt"
                if destination := piece.attributes.get("destination"):
                    self.tasks.destinations[name] = destination
                    self.lab.spared.add(destination)

    def _segments(self) -> list[tuple[str, int, list[tuple[str, int]]]]:
        """(title, line, rows) of what stands below each heading of the second level; the first has no title."""
        found: list[tuple[str, int, list[tuple[str, int]]]] = [("", self.rows[0][1] if self.rows else 1, [])]
        fence = ""
        for row, line in self.rows:
            inside = bool(fence)
            fence = after_row(row, fence)
            heading = None if inside else _HEADING.match(row)
            if heading:
                found.append((one_line(heading["title"]), line, []))
            else:
                found[-1][2].append((row, line))
        return found

    def _steps(self) -> None:
        lab = self.lab
        waiting: list[tuple[str, int, list[tuple[str, int]]]] = []
        taken: set[str] = set()
        for title, line, rows in self._segments():
            asks = any(isinstance(piece, Component) and piece.name in _TASKS for piece in pieces(rows))
            if not asks:
                waiting.append((title, line, rows))
                continue
            if not lab.steps:
                lab.intro = "\n\n".join(filter(None, (self._prose(*one, step=None) for one in waiting)))
                waiting = []
            name = title or lab.title
            step = StepDraft(unique(slug(name, "task"), taken), name, Place(self.file, line))
            lab.steps.append(step)
            before = [self._prose(*one, step=step) for one in waiting]
            waiting = []
            step.body = "\n\n".join(filter(None, (*before, self._prose("", line, rows, step=step))))
            lab.ledger.converted(step.place, f"## {name}"[:80], "lab.md")
        if not lab.steps:
            step = StepDraft(unique("work-through", taken), lab.title, Place(self.file, self.rows[0][1]))
            lab.steps.append(step)
            lab.ledger.approximated(
                step.place, "tasks", "lab.md", _("no task in the text: one step is made of the whole")
            )
        last = lab.steps[-1]
        rest = [self._prose(*one, step=last) for one in waiting]
        last.body = "\n\n".join(filter(None, (last.body, *rest)))
        if not lab.intro and (about := self.matter.value.get("description")):
            lab.intro = one_line(about)

    def _prose(self, title: str, line: int, rows: list[tuple[str, int]], *, step: StepDraft | None) -> str:
        out: list[tuple[str, int]] = [(f"# {title}\n", line)] if title else []
        fence, shell = "", False
        for piece in pieces(rows):
            if isinstance(piece, Component):
                out += [(row, piece.line) for row in self._component(piece, step).split("\n")]
            else:
                inside = bool(fence)
                fence = after_row(piece[0], fence)
                if not inside:
                    shell = bool(fence) and _SHELL_FENCE.match(piece[0]) is not None
                if not inside and not fence:
                    out.append((self._plain(piece[0], piece[1]), piece[1]))
                else:
                    out.append((self._home(piece[0], piece[1]) if shell and inside else piece[0], piece[1]))
        text = "\n".join(row for row, _line in out)
        lines = [at for row, at in out for _part in row.split("\n")]
        return fit(text, Where(Place(self.file, line)), self.lab.ledger, runs=False, lines=lines)

    def _plain(self, row: str, line: int) -> str:
        place = Place(self.file, line)

        def inline(match: re.Match[str]) -> str:
            attributes = inline_attributes(match["attributes"])
            reason = _("only its words are kept")
            self.lab.ledger.approximated(place, match[0][:60], "lab.md", reason)
            return attributes.get("text") or attributes.get("name") or match["name"]

        row = self.pictures.replaced(_INLINE.sub(inline, row), place, self.lab.ledger)
        changed = self._home(row, line)
        for path in machine.outside(changed):
            reason = _("outside the work folder: gone with the shell, and no check sees it")
            self.lab.ledger.approximated(place, path, "lab.md", reason)
        return changed

    def _home(self, row: str, line: int) -> str:
        changed = machine.at_home(row)
        if changed != row:
            reason = _("the machine's home is the work folder here: {home}").format(home=machine.HOME)
            self.lab.ledger.approximated(Place(self.file, line), row.strip()[:60], "lab.md", reason)
        return changed

    def _inner(self, component: Component, slot: str, step: StepDraft | None) -> str:
        rows = component.slots.get(slot, [])
        return self._prose("", component.line, rows, step=step) if rows else ""

    def _component(self, component: Component, step: StepDraft | None) -> str:
        ledger, place = self.lab.ledger, Place(self.file, component.line)
        name, attributes = component.name, component.attributes
        what = f"::{name}"
        if not component.closed:
            ledger.approximated(place, what, "lab.md", _("it was never closed: closed at the end"))
        if name in ("simple-task", "user-input-task"):
            return self._task(component, step)
        if name == "image-box":
            caption = self._inner(component, "", step)
            picture = self.pictures.picture(attributes.get("src", ""), attributes.get("alt", ""), place, ledger)
            return f"\n{picture}\n\n{caption}\n"
        if name == "hint-box" and step is not None:
            body = self._inner(component, "", step)
            if body:
                step.hints.append(body)
                ledger.converted(place, f"{what}: {attributes.get('summary', '')}"[:80], "lab.md")
            else:
                ledger.unmapped(place, what, _("nothing stands in it"))
            return ""
        if name == "remark-box":
            body = self._inner(component, "", step)
            ledger.converted(place, what, "lab.md")
            return "\n" + "\n".join(f"> {row}".rstrip() for row in body.split("\n")) + "\n"
        if name in ("details-box", "hint-box"):
            title = attributes.get("summary") or "Details"
            ledger.approximated(place, f"{what}: {title}"[:80], "lab.md", _("it does not unfold: its text stands open"))
            return f"\n**{title}**\n\n{self._inner(component, '', step)}\n"
        if name in ("slide-show", "image-gallery"):
            rows = "\n".join(row for row, _line in component.slots.get("attributes", []))
            sources = re.findall(r"image:\s*(\S+)", rows)
            alts = [*re.findall(r"alt:\s*[\"']?(.*?)[\"']?\s*$", rows, re.MULTILINE), *[""] * len(sources)]
            ledger.approximated(place, what, "lab.md", _("the pictures stand below one another"))
            shown_ = [self.pictures.picture(src, alt, place, ledger) for src, alt in zip(sources, alts, strict=False)]
            return "\n" + "\n\n".join(shown_) + "\n"
        if name in ("tabbed", "tabs", "slot", "div", "centered", "two-columns"):
            ledger.approximated(place, what, "lab.md", _("its parts stand below one another"))
            inner = (self._inner(component, slot, step) for slot in component.slots if slot != "attributes")
            return "\n" + "\n\n".join(inner) + "\n"
        ledger.unmapped(place, what, _("no such component is known: its words are kept"))
        return "\n" + "\n\n".join(
            self._inner(component, slot, step) for slot in component.slots if slot != "attributes"
        )

    def _task(self, component: Component, step: StepDraft | None) -> str:
        ledger, place = self.lab.ledger, Place(self.file, component.line)
        name = component.attributes.get("name", "")
        what = f"::{component.name} {name}"
        task = self.tasks.tasks.get(name)
        if step is None or task is None or task.kind != "regular":
            ledger.unmapped(place, what, _("the front matter has no such task"))
            return ""
        if name in self.shown_tasks:
            ledger.approximated(place, what, "lab.md", _("the task is shown twice: it is checked once"))
            return ""
        self.shown_tasks.add(name)
        active = self._inner(component, "active", step)
        done = one_line(component.text("completed"))
        known = {check.id for one in self.lab.steps for check in one.checks}
        self.tasks.check(step, name, done or f"{_words(name)} is done", known)
        ledger.converted(place, what, "lab.md")
        said = active
        if component.name == "user-input-task":
            file = self.tasks.inputs[name]
            reason = _("the learner writes the answer into {file}").format(file=file)
            ledger.approximated(place, what, "lab.md", reason)
            if rule := component.attributes.get("validateRegex") or component.attributes.get("validate"):
                ledger.unmapped(
                    place, f"validate: {rule[:60]}", _("an answer is judged when it is checked, not before")
                )
            said += "\n\n" + f"Write the answer into `{file}`."
        return "\n" + "\n".join(f"> {row}".rstrip() for row in said.strip("\n").split("\n")) + "\n" if said else ""

    # -- what is left -----------------------------------------------------------------------------------

    def _hidden_tasks(self) -> None:
        """Regular tasks that no component shows are still what the challenge is judged by."""
        for name, task in self.tasks.tasks.items():
            if task.kind != "regular" or name in self.shown_tasks:
                continue
            step = self.lab.steps[-1]
            known = {check.id for one in self.lab.steps for check in one.checks}
            self.tasks.check(step, name, f"{_words(name)} is done", known)
            reason = _("the text does not show it: checked in the last step")
            self.lab.ledger.approximated(self.place(task.pointer), shown(task.pointer), "lab.md", reason)

    def _solutions(self) -> None:
        """`.solution*.sh` is played, `solution*.md` is read; the first step gets all of it."""
        names = self.tree.files(self.folder)
        beside = [name for name in names if posixpath.dirname(name) == self.folder]
        scripts = [name for name in beside if re.fullmatch(r"\.?solution[\w-]*\.sh", posixpath.basename(name))]
        texts = [name for name in beside if re.fullmatch(r"solution[\w-]*\.md", posixpath.basename(name))]
        played = False
        for name in (*scripts, *texts):
            try:
                text = self.tree.text(name).text
            except UnreadableError as error:
                self.lab.ledger.unmapped(Place(name), posixpath.basename(name), _("the file {why}").format(why=error))
                continue
            self.read.add(name)
            script = text if name in scripts else "\n".join(_shell_blocks(text))
            if name in texts:
                self._told(name, text)
            if played or not script.strip():
                reason = _("one solution is played: this one is not") if played else _("no commands in it")
                self.lab.ledger.unmapped(Place(name, 1), posixpath.basename(name), reason)
                continue
            self._play(name, script)
            played = True

    def _told(self, name: str, text: str) -> None:
        """A solution in words is what a learner may read in the end: the last hint."""
        matter = front_matter(text)
        skipped = matter.count("\n") + 2 if matter else 0
        rows = [(row, skipped + number) for number, row in enumerate(text.split("\n")[skipped:], start=1)]
        place, self.file = self.file, name
        body = self._prose("", skipped + 1, rows, step=None)
        self.file = place
        if body:
            self.lab.steps[-1].answers.append(body)
            self.lab.ledger.converted(Place(name, 1), posixpath.basename(name), "lab.md")

    def _play(self, name: str, script: str) -> None:
        place = Place(name, 1)
        first, *others = self.lab.steps

        def answer(match: re.Match[str]) -> str:
            file = self.tasks.inputs.get(match["task"])
            return f"> {file}" if file else match[0]

        first.solution = _WAITS.sub(r"\g<indent>:", _ANSWERS.sub(answer, script))
        parts.warn(self.lab, first.solution, place, may_change=True)
        for step in others:
            step.solution = "true  # the solution of the first step solves this one, too"
        reason = _("made of its commands, and all of it solves the first step: try it with grader verify")
        self.lab.ledger.approximated(place, posixpath.basename(name), "solution/", reason)

    def _rest(self) -> None:
        known = self.read | self.pictures.used
        for name in self.tree.own_files(self.folder):
            if name not in known:
                reason = _("nothing names it: the platform serves it on the web")
                if "__static__" not in name:
                    reason = _("nothing of the challenge names it")
                self.lab.ledger.unmapped(Place(name), posixpath.basename(name), reason)


def _node(name: str) -> NodeSpec:
    labels = {"node-role.kubernetes.io/control-plane": ""} if "cplane" in name or "control" in name else {}
    return NodeSpec(name=name, taint=False, labels=labels)


def _why_not(key: str) -> str:
    reasons = {
        "machines": _("a lab has no machines: a shell, and nodes by these names where the playground is a cluster"),
        "tabs": _("how the screen is laid out is the application's business"),
        "registryAuth": _("a lab has no registry"),
        "networks": _("a lab has one network, that of its cluster"),
    }
    return reasons.get(key, _("no such key is documented"))


def _words(name: str) -> str:
    return f"'{name.replace('_', ' ').replace('-', ' ')}'"


def _shell_blocks(text: str) -> list[str]:
    found: list[str] = []
    block: list[str] | None = None
    for row in text.split("\n"):
        match = re.match(r"\s*```+\s*(?P<language>\w*)", row)
        if block is None and match:
            block = [] if match["language"] in ("sh", "bash", "shell", "") else None
            skipping = block is None
            if skipping:
                block = ["\0"]
        elif block is not None and match:
            found += [] if block[:1] == ["\0"] else ["\n".join(block)]
            block = None
        elif block is not None:
            block.append(row)
    return found
