"""Templates made to cost, or to get out: each is told at its line where it is written, or ends when it is rendered."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from grader.checks.template_bounds import LONGEST_SOURCE, MOST, MOST_TURNS
from grader.checks.templates import BadTemplateError, NoValueError, flaw, render
from grader.lab.checkblock import read_checks
from grader.lab.markdown import CheckBlock
from grader.lab.problems import LabProblem, Source

SPEC = {"many": list(range(100)), "long": "a" * 90_000, "name": "x", "map": {"a": {"b": "c"}}}


def rendered(source: str) -> str:
    began = time.monotonic()
    try:
        return render(source, {"spec": SPEC})
    finally:
        assert time.monotonic() - began < 5, "seconds, where it would be hours"


class TestBeforeItIsRendered:
    @pytest.mark.parametrize(
        ("source", "why"),
        [
            ("{{ 'a' * 10**9 }}", "'**' is not allowed here"),
            ("{% set a = 'x' %}{{ a }}", "'{% set %}' is not allowed here"),
            ("{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}", "'{% macro %}' is not allowed here"),
            ("{% filter upper %}x{% endfilter %}", "'{% filter %}' is not allowed here"),
            ("{% with a=1 %}{{ a }}{% endwith %}", "'{% with %}' is not allowed here"),
            ("{% include '/etc/passwd' %}", "'{% include %}' is not allowed here"),
            ("{% extends 'x' %}", "'{% extends %}' is not allowed here"),
            ("{% import 'os' as os %}", "'{% import %}' is not allowed here"),
            ("{% block b %}{% endblock %}", "'{% block %}' is not allowed here"),
            ("{% for a in spec recursive %}{{ loop(a) }}{% endfor %}", "'recursive' is not allowed here"),
            ("{{ ''.__class__.__mro__ }}", "'__mro__' is not allowed here"),
            ("{{ spec['__class__'] }}", "'__class__' is not allowed here"),
            ("{{ spec._private }}", "'_private' is not allowed here"),
            ("{{ spec | attr('x') }}", "No filter named 'attr'."),
            ("{{ spec | map('attr', 'x') | list }}", ""),
            ("{{ 'x' | center(1000000000) }}", "No filter named 'center'."),
            ("{{ 'x' | indent(1000000000) }}", "No filter named 'indent'."),
            ("{{ '%s' | format(1) }}", "No filter named 'format'."),
            ("{{ 'x' | wordwrap(1) }}", "No filter named 'wordwrap'."),
            ("{{ spec | xmlattr }}", "No filter named 'xmlattr'."),
            ("{{ spec | pprint }}", "No filter named 'pprint'."),
            ("{{ 'x'.ljust(1000000000) }}", "'ljust()' is not allowed here"),
            ("{{ 'x'.zfill(1000000000) }}", "'zfill()' is not allowed here"),
            ("{{ '\t'.expandtabs(1000000000) }}", "'expandtabs()' is not allowed here"),
            ("{{ '{:>1000000000}'.format(1) }}", "'format()' is not allowed here"),
            ("{{ 'x'.join(spec) }}", "'join()' is not allowed here"),
            ("{{ 'x'.encode() }}", "'encode()' is not allowed here"),
            ("{{ range(1000000000) }}", "functions are not called here"),
            ("{{ lipsum(1000) }}", "functions are not called here"),
            ("{{ cycler(1).next() }}", "'next()' is not allowed here"),
            ("{{ " + "(" * 900 + "1" + ")" * 900 + " }}", "nested deeper than 50 levels"),
            ("{{ " + "not " * 900 + "1 }}", "nested deeper than 50 levels"),
            ("{{ a" + ".b" * 900 + " }}", "nested deeper than 50 levels"),
            ("{% if a %}" * 60 + "{% endif %}" * 60, "nested deeper than 50 levels"),
            ("{{ '" + "x" * LONGEST_SOURCE + "' }}", "longer than 4000 characters"),
        ],
        ids=lambda value: value[:30],
    )
    def test_is_told(self, source: str, why: str) -> None:
        found = flaw(source)
        if why:
            assert found is not None
            assert found[0].endswith(f"is wrong: {why}") or why in found[0]
            with pytest.raises((BadTemplateError, NoValueError)):
                rendered(source)
        else:
            assert found is None

    def test_is_told_with_file_line_and_column(self) -> None:
        text = """- id: a
  says: b
  file:
    file: x.txt
    with: {pod: {kind: Pod, name: p}}
    mentions:
      - "{{ pod.spec }}"
      - |
        first
        {% set a = 1 %}
      - "{{ 'a' * 10**9 }}"
"""
        found: list[LabProblem] = []
        read_checks(CheckBlock(text, 20, 0), Source(Path("lab.md"), "\n" * 40), found)
        assert sorted((problem.line, problem.column) for problem in found) == [(29, 1), (30, 9)]
        assert all("is not allowed here" in problem.message for problem in found)


class TestWhileItIsRendered:
    @pytest.mark.parametrize(
        ("source", "why"),
        [
            ("{{ 'a' * 1000000000 }}", f"a value of more than {MOST} characters or entries"),
            ("{{ 1000000000 * 'a' }}", f"a value of more than {MOST} characters or entries"),
            ("{{ [1] * 1000000000 }}", f"a value of more than {MOST} characters or entries"),
            ("{{ spec.long + spec.long }}", f"a value of more than {MOST} characters or entries"),
            ("{{ spec.long ~ spec.long }}", f"a value of more than {MOST} characters or entries"),
            ("{{ spec.many | join(spec.long) }}", f"a value of more than {MOST} characters or entries"),
            ("{{ spec.long | replace('a', spec.long) }}", f"a value of more than {MOST} characters or entries"),
            ("{{ spec.long | replace('', 'aa') }}", f"a value of more than {MOST} characters or entries"),
            ("{{ spec.long }}{{ spec.long }}", f"more than {MOST} characters"),
            ("{{ '%1000000000d' % 1 }}", "'%' is not allowed here"),
            ("{{ 99999999999999999999 * 99999999999999999999 * 99999999999999999999 * 99999999999999999999 }}",
             "a number that can't be used"),
            ("{% for a in spec.many %}" * 5 + "{% endfor %}" * 5, f"loops of more than {MOST_TURNS} turns"),
            ("{% for a in spec.long %}{% endfor %}", f"loops of more than {MOST_TURNS} turns"),
            ("{{ spec.many | map('center', 1000000000) | list }}", "No filter named 'center'"),
        ],
        ids=lambda value: value[:30],
    )  # fmt: skip
    def test_ends(self, source: str, why: str) -> None:
        with pytest.raises(BadTemplateError) as raised:
            rendered(source)
        assert raised.value.message.endswith(f"is wrong: {why}") or why in raised.value.message
        assert raised.value.exit_code == 2, "the lab's fault"

    def test_much_that_is_each_small_has_an_end_in_time(self) -> None:
        inner = "{{ (spec.long | upper | lower | upper | lower | upper | lower)[:1] }}" * 40
        with pytest.raises(BadTemplateError, match=r"it took longer than 2 s|more than"):
            rendered("{% for a in spec.many %}{% for b in spec.many %}" + inner + "{% endfor %}{% endfor %}")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{ spec.many | length }}", "100"),
        ("{% for n in spec.many[:3] %}{{ n }}{% if not loop.last %},{% endif %}{% endfor %}", "0,1,2"),
        ("{{ spec.name ~ '-' ~ spec.map.a.b }}", "x-c"),
        ("{{ 'a' * 3 + 'b' }}", "aaab"),
        ("{{ (7 * 6) % 5 }}", "2"),
        ("{{ spec.map.get('a').items() | list | length }}", "1"),
        ("{{ ['a', 'b'] | join('-') }}", "a-b"),
        ("{{ [{'n': 'a'}, {'n': 'b'}] | join('-', attribute='n') }}", "a-b"),
        ("{{ 'a.b' | replace('.', '/') }}", "a/b"),
        ("{{ 'a,b'.split(',')[1].upper() }}", "B"),
        ("{{ spec.missing | default('none') }}", "none"),
        ("{{ spec.map | tojson }}", '{"a": {"b": "c"}}'),
        ("{{ 'yes' if 'x' in spec.name else 'no' }}", "yes"),
    ],
)
def test_what_labs_need_is_there(source: str, text: str) -> None:
    assert flaw(source) is None
    assert rendered(source) == text
