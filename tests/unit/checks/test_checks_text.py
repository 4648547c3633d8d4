"""Words and messages in pasted text."""

from __future__ import annotations

import pytest

from grader.checks.text import mentions, quotes, record_key


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ("Address: 10.88.0.1\n", "10.88.0.1", True),
        ("Address: 10.88.0.1:53", "10.88.0.1", True),
        ("10.88.0.12", "10.88.0.1", False),
        ("110.88.0.1", "10.88.0.1", False),
        ("10.88.0.1.5", "10.88.0.1", False),
        ("it is 10.88.0.1.", "10.88.0.1", True),
        ("(10.88.0.1)", "10.88.0.1", True),
        ("ip=10.88.0.1", "10.88.0.1", True),
        ("llm-1.llm.infer.svc", "llm-1.llm.infer", False),
        ("llm-1.llm.infer. 5 IN A", "llm-1.llm.infer", True),
        ("my-llm-1", "llm-1", False),
        ("llm-1-1", "llm-1", False),
        ("LLM-1", "llm-1", True),
        ("a  b\n c", "a b c", True),
        ("ab c", "a b c", False),
        ("nvidia.com/gpu: 1", "nvidia.com/gpu", True),
        ("1+1=2", "+1=", True),
        ("a.c", "a*c", False),
        ("값: 한국", "한국", True),
        ("한국어", "한국", False),
    ],
)
def test_mentions(text: str, words: str, found: bool) -> None:
    assert mentions(text, words) is found


@pytest.mark.parametrize(
    ("text", "message", "found"),
    [
        ("x No  GPU\nleft y", "no gpu left", True),
        ("no g\npu left", "no gpu left", True),
        ("no gpu", "no gpu left", False),
        ("anything", "", False),
        ("anything", " \n", False),
    ],
)
def test_quotes(text: str, message: str, found: bool) -> None:
    assert quotes(text, message) is found


def test_record_keys() -> None:
    assert record_key("a=1   b=2") == record_key(" b=2\ta=1 ")
    assert record_key("one  two") == "one two" != record_key("two one")
    assert record_key("") == ""
