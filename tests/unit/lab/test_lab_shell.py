"""Which commands a script runs, found by reading it."""

from __future__ import annotations

import pytest

from grader.lab.shell import UNKNOWN, commands


def words(script: str) -> list[str]:
    return [" ".join(command.words).replace(UNKNOWN, "?") for command in commands(script)]


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("a b; c && d || e | f &\ng", ["a b", "c", "d", "e", "f", "g"]),
        ("# a\nb # c\nd#e", ["b", "d#e"]),
        ("a \\\n  b", ["a b"]),
        ("a 'b c' \"d ; e\" f\\ g", ["a b c d ; e f g"]),
        ("X=1 Y='2 3' a", ["a"]),
        ("x=$(a b | c)", ["a b", "c"]),
        ('echo "in $(a "$b") text" `c`', ["a ?", "c", "echo in ? text ?"]),
        ("echo $((1 + 2)) ${x:-$(no)} $? $1", ["echo ? ? ? ?"]),
        ("a > out 2>&1 < in; b >> out; c &> all", ["a", "b", "c"]),
        ("cat > f <<'END'\nkubectl not this\nEND\na", ["cat", "a"]),
        ("cat <<-END\n\tnot this\n\tEND\na", ["cat", "a"]),
        ("cat <<A <<B\nx\nA\ny\nB\na", ["cat", "a"]),
        ("a <<< 'text'\nb", ["a", "b"]),
        ("if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]),
        ("while ! a; do b; done < f", ["a", "b"]),
        ("for x in one two $(a); do b $x; done", ["a", "b ?"]),
        ("case $x in\n one|two) a;;\n *) b\n;;\nesac\nc", ["a", "b", "c"]),
        ("f() { a; }\nfunction g { b; }\nf x\nc", ["a", "b", "c"]),
        ("(a; b) | { c; }", ["a", "b", "c"]),
        ("$tool run; a", ["a"]),
        ("exec a b\ntimeout 5 c\nxargs -n 1 d\nenv X=1 e", ["a b", "c", "d", "e"]),
        ("bash -c 'a; b'", ["a", "b"]),
        ("a <(b) >(c)", ["b", "c", "a ? ?"]),
    ],
)
def test_commands_of_a_script(script: str, found: list[str]) -> None:
    assert words(script) == found


def test_what_runs_in_a_pod_is_marked() -> None:
    found = commands("kubectl exec p -- sh -c 'a; b'\nc")
    assert [(one.words, one.inside, one.line) for one in found] == [
        (("kubectl", "exec", "p"), False, 1),
        (("a",), True, 1),
        (("b",), True, 1),
        (("c",), False, 2),
    ]


def test_lines_are_those_of_the_script() -> None:
    script = "a\n\ncat <<E\n1\n2\nE\nx=$(\n  b\n)\nc \\\n  d\n"
    assert {one.words[0]: one.line for one in commands(script)} == {"a": 1, "cat": 3, "b": 8, "c": 10}


@pytest.mark.parametrize("script", ["'", '"', "$(", "${", "$((", "`", "<<E", "case x in", "a \\", "<(", "\\"])
def test_a_script_that_ends_in_the_middle_is_read_to_its_end(script: str) -> None:
    assert isinstance(commands(script), list)
