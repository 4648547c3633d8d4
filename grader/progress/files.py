"""How progress files are written so that neither a crash nor a second writer can spoil one.

Owns locking, temp-and-rename, the schema number, and setting a damaged file aside; knows nothing of what the files
mean.
"""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from cluster.errors import EnvironmentProblem
from cluster.i18n import _

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SCHEMA = 1
"""Of every file that `read_stored` reads."""
Stored = TypeVar("Stored", bound="StoredFile")
LARGEST = 4 * 1024 * 1024
"""Bytes beyond which a progress file can't be one of ours (the largest allowed is 2 MiB)."""


class StoredFile(BaseModel):
    """What a file of ours holds beside its schema number; every key may be missing."""

    model_config = ConfigDict(strict=True)


@contextmanager
def locked(folder: Path, name: str = "progress.lock") -> Iterator[None]:
    """Hold the one lock of the progress files in `folder` (made where missing), across processes.

    The lock lies beside the files, not on them: a rename would leave the second writer holding the lock
    of a file that is gone.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise cannot(folder / name, error) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def write_whole(path: Path, text: str) -> None:
    """Put `text` in `path` (0600): a reader sees the old file or the new one, never a part."""
    temporary: Path | None = None
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        temporary = Path(name)
        with os.fdopen(handle, "w", encoding="utf-8") as target:
            target.write(text)
            target.flush()
            os.fsync(target.fileno())
        temporary.replace(path)
        temporary = None
    except OSError as error:
        raise cannot(path, error) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def read_whole(path: Path) -> bytes | None:
    """The bytes of `path`, or None where there is none.

    Raises ValueError if it can't be one of our files (a directory, far too large).
    """
    try:
        with path.open("rb") as source:
            data = source.read(LARGEST + 1)
    except FileNotFoundError:
        return None
    except IsADirectoryError as error:
        raise ValueError(_("it is a directory")) from error
    except OSError as error:
        raise cannot(path, error) from error
    if len(data) > LARGEST:
        raise ValueError(_("it is over {size} MiB").format(size=LARGEST // (1024 * 1024)))
    return data


class NewerSchema(EnvironmentProblem):
    """The file is not damaged, we are too old for it: never set aside without being asked."""


def read_stored(path: Path, model: type[Stored], advice: str) -> tuple[Stored, str]:
    """What `path` keeps (an empty `model` where there is none), and a sentence for the person, or "".

    A damaged file is set aside and named in the sentence; keys that a later version of the same schema adds are
    ignored. Raises EnvironmentProblem if it can't be read, NewerSchema with `advice` if a newer Batchlab wrote it.
    """
    try:
        data = read_whole(path)
        return (model() if data is None else _parse(path, data, model, advice)), ""
    except ValidationError as error:
        first = error.errors()[0]
        return model(), set_aside(path, f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
    except (ValueError, RecursionError) as error:
        return model(), set_aside(path, str(error))


def write_stored(path: Path, content: Mapping[str, object]) -> None:
    """Keep `content`, which a model of `read_stored` describes, for it to be read again."""
    write_whole(path, json.dumps({"schema": SCHEMA, **content}, ensure_ascii=False, indent=1) + "\n")


def _parse(path: Path, data: bytes, model: type[Stored], advice: str) -> Stored:
    stored = json.loads(data)
    if not isinstance(stored, dict):
        raise ValueError(_("it is not an object"))
    number = stored.get("schema")
    if isinstance(number, int) and number > SCHEMA:
        message = _("{path} was written by a newer Batchlab (schema {number}, this one knows {known})")
        raise NewerSchema(message.format(path=path, number=number, known=SCHEMA), advice)
    if number != SCHEMA:
        raise ValueError(_("it has no schema number"))
    return model.model_validate(stored)


def set_aside(path: Path, why: str) -> str:
    """Rename a damaged file to `<name>.damaged-<UTC time>` and return the sentence that says so."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    kept = path.with_name(f"{path.name}.damaged-{stamp}")
    number = 1
    while kept.exists():
        number += 1
        kept = path.with_name(f"{path.name}.damaged-{stamp}-{number}")
    try:
        path.rename(kept)
    except OSError as error:
        raise cannot(path, error) from error
    return _("{name} was damaged ({why}); it is kept as {kept}, and a new one begins").format(
        name=path.name, why=why, kept=kept
    )


def cannot(path: Path, error: OSError) -> EnvironmentProblem:
    """The problem a person is told when the system refuses a progress file."""
    return EnvironmentProblem(
        _("can't use {path}: {why}").format(path=path, why=error.strerror or str(error)),
        _("progress is not recorded until this is repaired; verdicts are not affected"),
    )
