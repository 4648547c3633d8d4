"""Check blocks as authors write them: what is refused, and where the place of the mistake is."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from pydantic import BaseModel, ValidationError

from grader.checks import KINDS, CheckSource
from grader.checks.base import Check, Envelope, ObjectRef, TimedRef
from grader.checks.happened import FORMS

DOCS = Path(__file__).parents[3] / "docs" / "checks.md"


def source(text: str) -> CheckSource:
    return CheckSource.model_validate({"id": "a-check", "says": "it is so", **yaml.safe_load(text)})


def problems(text: str) -> list[tuple[str, str]]:
    with pytest.raises(ValidationError) as raised:
        source(text)
    return [
        (".".join(map(str, error["loc"])), error["msg"].removeprefix("Value error, "))
        for error in raised.value.errors()
    ]


def test_a_check() -> None:
    check = source("""
after: [first]
hold: now
within: 30
weight: 2
look_at: kubectl get pods
file: {file: a.txt}
""").check()
    assert isinstance(check, Check)
    assert (check.after, check.hold, check.within, check.weight) == (("first",), "now", 30, 2)
    assert (check.look_at, check.kind.name) == ("kubectl get pods", "file")


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        (
            "{}",
            "",
            "exactly one of resource, resources, file, records, answer, quotes, exec, happened, script, python",
        ),
        ("{file: {file: a}, exec: {run: ls}}", "", "a check has exactly one of"),
        ("{file: {file: a}, within: 301}", "within", "Input should be less than or equal to 300"),
        ("{file: {file: a}, within: '3'}", "within", "Input should be a valid integer"),
        ("{file: {file: a}, within: true}", "within", "Input should be a valid integer"),
        ("{file: {file: a}, weight: 0}", "weight", "Input should be greater than or equal to 1"),
        ("{file: {file: a}, hold: always}", "hold", "Input should be 'once' or 'now'"),
        ("{file: {file: a}, id: Not_a_slug}", "id", "String should match pattern"),
        ("{file: {file: a}, after: [a-check]}", "", "a check can't come after itself"),
        ("{file: {file: a}, afer: []}", "afer", "Extra inputs are not permitted"),
        ("{file: {file: ../a}}", "file.file", "'../a' is not a file inside the work folder"),
        ("{file: {file: /etc/passwd}}", "file.file", "'/etc/passwd' is not a file inside the work folder"),
        (
            "{file: {file: a, mentions: ['{{ x.y }}']}}",
            "file",
            "uses x, which nothing defines here",
        ),
        ("{file: {file: a, mentions: ['{{ x']}}", "file.mentions.0", "the template '{{ x' is wrong: "),
        ("{file: {file: a, yaml: {match: {}}}}", "file.yaml.match", "an empty map matches everything"),
        ("{file: {file: a, with: {spec: {kind: Pod, name: x}}}}", "file", "spec is taken"),
        ("{file: {file: a, with: {x: {kind: Pod}}}}", "file.with.x", "this reference needs a name"),
        (
            "{file: {file: a, with: {x: {kind: Pod, name: y, when: written, before: z}}}}",
            "file.with.x",
            "a reference has `when` or `before`, not both",
        ),
        ("{resource: {of: {kind: Pod, selector: a=b}}}", "resource", "`of` needs a name"),
        (
            "{resource: {of: {kind: Pod, name: x}, absent: true, match: {a: 1}}}",
            "resource",
            "`match` or `absent: true`",
        ),
        (
            "{resource: {of: {kind: Podd, name: x}}}",
            "resource.of",
            "needs its apiVersion (did you mean Pod?)",
        ),
        (
            "{resource: {of: {kind: Pod, name: x}, match: {a: <absnt>}}}",
            "resource.match",
            "'<absnt>' is none of",
        ),
        (
            "{resource: {of: {kind: Pod, name: x}, match: {a: [b, <only>]}}}",
            "resource.match",
            "<only> begins a list, and something follows it",
        ),
        (
            "{resource: {of: {kind: Pod, name: x}, match: {a: {b: [<only>]}}}}",
            "resource.match",
            "<only> begins a list, and something follows it",
        ),
        (
            "{resource: {of: {kind: Pod, name: x}, match: {a: <only>}}}",
            "resource.match",
            "<only> begins a list, and something follows it",
        ),
        ("{resources: {of: {kind: Pod, name: x}, count: 1}}", "resources", "`of` selects by labels here"),
        ("{resources: {of: {kind: Pod}}}", "resources", "say what is wanted: count, all, some, none, same or spread"),
        (
            "{resources: {of: {kind: Pod, name: x, selector: a}, count: 1}}",
            "resources.of",
            "a name or a selector",
        ),
        (
            "{resources: {of: {kind: Pod, selector: 'a b'}, count: 1}}",
            "resources.of.selector",
            "'a b' is not a label",
        ),
        ("{resources: {of: {kind: Pod}, same: ['a..b']}}", "resources.same.0", "'a..b' is not a path"),
        ("{records: {file: a, each: {kind: Pod, name: x}, line: x}}", "records", "`each` selects by labels"),
        ("{records: {file: a, each: {kind: Pod}, line: '{{ nam }}'}}", "records", "the template '{{ nam }}' uses nam"),
        ("{answer: {file: a, fields: {}}}", "answer.fields", "Dictionary should have at least 1 item"),
        ("{answer: {file: a, fields: {'a=b': x}}}", "answer", "'a=b' can't be a key of a key=value line"),
        ("{quotes: {file: a, of: {kind: Job, name: x}}}", "quotes", "say which message"),
        ("{exec: {run: ls, with: {p: {kind: Pod, name: x, when: written}}}}", "exec", "p: this check reads no file"),
        ("{exec: {seconds: 5}}", "exec", "`command` (a list) or `run` (a line for sh): exactly one of them"),
        ("{exec: {run: ls, container: c}}", "exec", "a container needs its pod"),
        ("{happened: {}}", "happened", "exactly one of recreated, rolled, never, created_after, changed"),
        ("{happened: {never: {of: {kind: Pod}}, changed: {}}}", "happened.changed.of", "Field required"),
        ("{happened: {never: {of: {kind: Secret}}}}", "happened.never", "Secret is not recorded"),
        ("{resource: {of: {kind: Secret, name: x}, absent: true}}", "resource", "Secret is not recorded"),
        ("{records: {file: a, each: {kind: Secret}, line: x, when: written}}", "records", "Secret is not recorded"),
        ("{quotes: {file: a, of: {kind: Secret, name: x}, message: x, before: y}}", "quotes", "not recorded"),
        ("{file: {file: a, with: {s: {kind: Secret, name: x, when: written}}}}", "file.with.s", "not recorded"),
        ("{python: {function: __import__}}", "python.function", "String should match pattern"),
    ],
)
def test_refused(text: str, where: str, message: str) -> None:
    found = problems(text)
    assert any(place == where and message in said for place, said in found), found


def test_count_says_what_is_wrong_with_either_form() -> None:
    assert {
        place.split(".")[1] for place, _said in problems("{resources: {of: {kind: Pod}, count: {min: 3, max: 1}}}")
    } == {"count"}


def test_short_kind_names() -> None:
    ref = ObjectRef(kind="LWS", name="llm")
    assert (ref.canonical_kind, ref.version) == ("LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1")
    assert ref.title("infer") == "LeaderWorkerSet infer/llm"


@pytest.mark.parametrize(
    ("selector", "title"),
    [
        ("jobset.sigs.k8s.io/jobset-name=train", "Pod[jobset-name=train] in infer"),
        ("a.b/c=d,!e.f/g,h in (i,j)", "Pod[c=d,!g,h in (i,j)] in infer"),
        ("leaderworkerset.sigs.k8s.io/name=llm", "Pod[leaderworkerset.sigs.k8s.io/name=llm] in infer"),
    ],
)
def test_people_read_labels_without_their_domain(selector: str, title: str) -> None:
    ref = ObjectRef(kind="Pod", selector=selector)
    assert ref.title("infer") == title
    assert selector in ref.command("infer")


def test_what_lint_asks_of_a_kind() -> None:
    kind = (
        source("""
answer:
  file: a.txt
  with:
    one: {kind: Pod, name: p, before: other}
    two: {kind: Node, name: n, when: written}
  fields: {k: "{{ one.metadata.uid }}{{ two.metadata.uid }}"}
""")
        .check()
        .kind
    )
    assert kind.references() == ("other",)
    assert kind.files() == ("a.txt",)
    assert kind.kinds() == {"Pod", "Node"}
    assert kind.templates() == ("{{ one.metadata.uid }}{{ two.metadata.uid }}",)
    assert kind.uses_history


def test_models_have_a_json_schema() -> None:
    schema = CheckSource.model_json_schema()
    assert set(KINDS) | set(Envelope.model_fields) == set(schema["properties"])
    assert schema["additionalProperties"] is False


def _models(model: type[BaseModel], seen: set[type[BaseModel]]) -> None:
    """`model` and every model its fields hold."""
    if model in seen:
        return
    seen.add(model)
    for field in model.model_fields.values():
        for part in _parts(field.annotation):
            _models(part, seen)


def _parts(annotation: object) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [part for inner in getattr(annotation, "__args__", ()) for part in _parts(inner)]


def _keys(model: type[BaseModel]) -> set[str]:
    return {field.alias or name for name, field in model.model_fields.items()}


class TestDocs:
    """docs/checks.md is complete."""

    TEXT = DOCS.read_text(encoding="utf-8")

    def section(self, title: str) -> str:
        """The text below `## title` (or `### title`), up to the next heading as high."""
        for level in ("## ", "### "):
            heading = f"\n{level}`{title}`"
            if heading in self.TEXT:
                rest = self.TEXT.split(heading, 1)[1]
                return rest.split(f"\n{level}", 1)[0].split("\n## ", 1)[0]
        raise AssertionError(f"docs/checks.md has no section `{title}`")

    @pytest.mark.parametrize("kind", KINDS)
    def test_every_key_of_every_kind(self, kind: str) -> None:
        text = self.section(kind)
        models: set[type[BaseModel]] = set()
        _models(KINDS[kind], models)
        shared = _keys(TimedRef) | _keys(ObjectRef)
        for model in models:
            undocumented = {key for key in _keys(model) - shared if f"`{key}`" not in text}
            assert not undocumented, f"{kind}: {model.__name__}"

    @pytest.mark.parametrize("kind", [*KINDS, *FORMS])
    def test_every_kind_has_an_example_that_is_right(self, kind: str) -> None:
        blocks = [block.split("```", 1)[0] for block in self.section(kind).split("```yaml check\n")[1:]]
        assert blocks
        checks = [CheckSource.model_validate(raw).check() for block in blocks for raw in yaml.safe_load(block)]
        assert any(check.kind.name in (kind, "happened") for check in checks)

    def test_every_key_all_checks_share(self) -> None:
        intro = self.TEXT.split("\n## `", 1)[0]
        for key in (*Envelope.model_fields, *_keys(ObjectRef), *_keys(TimedRef), "with"):
            assert f"`{key}`" in intro, key

    def test_every_example_is_a_right_one(self) -> None:
        for block in self.TEXT.split("```yaml check\n")[1:]:
            for raw in yaml.safe_load(block.split("```", 1)[0]):
                CheckSource.model_validate(raw)
