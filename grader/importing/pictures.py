"""Pictures of a text: copied into the lab's `assets/`, and named from there.

Owns how text names pictures and which are copied; never fetches one.
"""

from __future__ import annotations

import posixpath
import re

from cluster.i18n import _
from grader.importing.draft import File, LabDraft
from grader.importing.ledger import Ledger, Place
from grader.importing.tree import Tree, UnreadableError

_MARKDOWN = re.compile(r"!\[(?P<alt>[^\]]*)\]\((?P<src>[^()\s]+)(?:\s+[^()]*)?\)")
_HTML = re.compile(r"<img\b(?P<attributes>[^>]*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif")


class Pictures:
    """The pictures of one lab, from files of `tree`."""

    def __init__(self, tree: Tree, lab: LabDraft, roots: tuple[str, ...]) -> None:
        """`roots`: folders that a name may be relative to beside its file's own."""
        self._tree, self._lab, self._roots = tree, lab, roots
        self._copied: dict[str, str] = {}

    def replaced(self, row: str, place: Place, ledger: Ledger) -> str:
        """A line of markdown with its pictures named as they are here."""

        def tag(match: re.Match[str]) -> str:
            found = _ATTRIBUTE.findall(match["attributes"])
            attributes = {name.lower(): first or second or third for name, first, second, third in found}
            return self.picture(attributes.get("src", ""), attributes.get("alt", ""), place, ledger)

        row = _MARKDOWN.sub(lambda match: self.picture(match["src"], match["alt"], place, ledger), row)
        return _HTML.sub(tag, row)

    def picture(self, source: str, alt: str, place: Place, ledger: Ledger) -> str:
        """One picture as markdown."""
        alt = alt.replace("[", "(").replace("]", ")") or posixpath.basename(source) or "picture"
        what = f"![{alt[:40]}]({source[:80]})"
        if "://" in source or source.startswith("//"):
            ledger.approximated(place, what, "lab.md", _("it lies on the web: it is named, not fetched"))
            return f"[{alt}]({source})"
        try:
            path = self.copy(source, place.file)
        except UnreadableError as error:
            ledger.unmapped(place, what, _("the picture {why}").format(why=error))
            return alt
        ledger.converted(place, what, path)
        return f"![{alt}]({path})"

    def copy(self, source: str, file: str) -> str:
        """Copy a picture that a text of `file` names; where it lies in the lab. UnreadableError where it can't."""
        last: UnreadableError | None = None
        for folder in dict.fromkeys((posixpath.dirname(file), *self._roots)):
            try:
                name = self._tree.join(folder, source.lstrip("/"))
                if not name.lower().endswith(_ENDINGS):
                    raise UnreadableError(_("is no picture by its name"))
                if name not in self._copied:
                    data = self._tree.data(name)
                    path = self._lab.free(f"assets/{posixpath.basename(name)}")
                    self._lab.files[path] = File(data)
                    self._copied[name] = path
                return self._copied[name]
            except UnreadableError as error:
                last = last or error
        assert last is not None
        raise last

    @property
    def used(self) -> set[str]:
        """The files that were copied."""
        return set(self._copied)
