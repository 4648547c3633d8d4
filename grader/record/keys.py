"""Ed25519 keys: one for each session, which signs its record, and one for each learner, which says whose it is.

Owns the files they are kept in (0600) and what a signature is made over; knows nothing of what is signed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from cluster.errors import EnvironmentProblem
from cluster.i18n import _
from cluster.paths import state_dir
from grader.progress.files import locked, read_whole, set_aside, write_whole

if TYPE_CHECKING:
    from pathlib import Path

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

SESSION_KEY, LEARNER_KEY = "record.key", "learner.key"


def canonical(value: Any) -> bytes:
    """JSON in the one form that is hashed and signed: keys sorted, no blanks, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def digest(value: Any) -> str:
    """`sha256:…` of a value's canonical form."""
    return "sha256:" + hashlib.sha256(canonical(value)).hexdigest()


class Key:
    """A private key; `public` is what goes into reports."""

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self.public = _text(private.public_key().public_bytes_raw())

    def sign(self, purpose: str, value: Any) -> str:
        """The signature over `value`; one made for another purpose never fits."""
        return _text(self._private.sign(_message(purpose, value)))


def fits(public: str, purpose: str, value: Any, signature: object) -> bool:
    """Whether the key behind `public` made `signature` for this; False for whatever is none."""
    from cryptography.exceptions import InvalidSignature

    if not isinstance(signature, str):
        return False
    try:
        _public(public).verify(base64.b64decode(signature, validate=True), _message(purpose, value))
    except (InvalidSignature, ValueError, RecursionError):
        return False
    return True


@lru_cache(maxsize=64)
def _public(text: str) -> Ed25519PublicKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    return Ed25519PublicKey.from_public_bytes(base64.b64decode(text, validate=True))


def fingerprint(public: str) -> str:
    """A public key for people: eight hexadecimal digits in two halves."""
    text = hashlib.sha256(public.encode()).hexdigest()
    return f"{text[:4]}-{text[4:8]}"


def learner_key() -> Key:
    """The key of who uses this state folder, made when it is first asked for."""
    return kept_key(state_dir(), LEARNER_KEY)


def kept_key(folder: Path, name: str, *, make: bool = True) -> Key:
    """The key in `folder`; made where there is none. One that can't be read as a key is set aside.

    EnvironmentProblem where it can't be kept, or, without `make`, where there is none.
    """
    with locked(folder, "record.lock"):
        return _kept_key(folder / name, make=make)


def _kept_key(path: Path, *, make: bool) -> Key:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    try:
        data = read_whole(path)
        if data is not None:
            return Key(Ed25519PrivateKey.from_private_bytes(base64.b64decode(data.strip(), validate=True)))
    except ValueError as error:
        set_aside(path, str(error))
    if not make:
        raise EnvironmentProblem(_("there is no key {path}").format(path=path))
    private = Ed25519PrivateKey.from_private_bytes(os.urandom(32))
    write_whole(path, _text(private.private_bytes_raw()) + "\n")
    return Key(private)


def _message(purpose: str, value: Any) -> bytes:
    return f"batchlab {purpose}\n".encode() + canonical(value)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
