"""Words and messages in pasted text."""

from __future__ import annotations

import pytest

from grader.checks.text import departure, mentions, quotes, record_key


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
        (r'{"message":"request (4) \u003e \"max\""}', 'request (4) > "max"', True),
        (r"a \u003e b", "a > c", False),
        (r"C:\users\u12", r"C:\users", True),
    ],
)
def test_quotes(text: str, message: str, found: bool) -> None:
    assert quotes(text, message) is found


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("first failed job: train-worker-1", ("first failed job:", "train-worker-1")),
        ("Message:  FIRST\n failed   job: none", ("FIRST failed job:", "none")),
        ("first failed job", ("first failed job", "")),
        ("first failed job: tra...", ("first failed job:", "tra...")),
        ("the first failed job", ("first failed job", "")),
        ("it failed", None),
        ("", None),
    ],
    ids=["last-word", "pasted", "cut", "cut-in-a-word", "beginning-left-out", "paraphrase", "empty"],
)
def test_departure(text: str, parts: tuple[str, str] | None) -> None:
    assert departure(text, "first failed job: train-worker-0") == parts


def test_departure_shows_a_little_on_both_sides() -> None:
    message = " ".join(f"word{number}" for number in range(100))
    parts = departure(message.replace("word50", "other") + " and more", message)
    assert parts is not None
    assert parts == ("…ord44 word45 word46 word47 word48 word49", "other word51 word52 word53 word54 word55…")


def test_no_departure_from_no_message() -> None:
    assert departure("anything", " ") is None


def test_record_keys() -> None:
    assert record_key("a=1   b=2") == record_key(" b=2\ta=1 ")
    assert record_key("one  two") == "one two" != record_key("two one")
    assert record_key("") == ""
