"""What was solved before, on disk: a folder of answers, each under the digest of its question.

A question is floorflow's own files, the versions of what it solves with, and every value that the answer depends on; a
question that cannot be told so is not remembered. A file is read only if its digest is its own, and then makes nothing
but floorflow's values and arrays, so that one that is cut short, foreign or planted is no answer, and does no harm.
"""

import hashlib
import importlib
import io
import os
import pickle
import platform
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path, PurePath
from types import FunctionType
from typing import Any

from pydantic import BaseModel

from floorflow.errors import InputError
from floorflow.reading import exists, is_folder, shown, why

_HEAD = b"floorflow-answer/1\n"
_MANY = 50
"""Parts of a value from which on its digest is kept beside it."""
_Digests = dict[int, tuple[object, bytes]]


class NotTold(Exception):  # noqa: N818 - says why an answer is not remembered, is no error
    """A value cannot be told from others, so that no question of it is remembered."""


@dataclass(frozen=True)
class Cache:
    """Answers in a folder, each in a file under the name of its question's digest; see `floorflow.stats.Keeper`."""

    folder: Path
    _digests: _Digests = field(default_factory=dict, compare=False, repr=False)

    def key_of(self, *question: Any) -> str | None:
        """Return the name of a question's answer; None where the question cannot be told."""
        digest = hashlib.sha256(_own())
        try:
            for part in _sized(_told(question, self._digests)):
                digest.update(part)
        except (NotTold, pickle.PicklingError, AttributeError, TypeError):
            return None
        return digest.hexdigest()

    def recall(self, key: str | None) -> Any:
        """Return the answer of that name, None if there is none that can be read."""
        if key is None:
            return None
        try:
            head, digest, held = _parts((self.folder / key).read_bytes())
            if (head, digest) != (_HEAD, _digest(key, held)):
                return None
            return _Reader(io.BytesIO(zlib.decompress(held))).load()
        except Exception:  # noqa: BLE001  (whatever is wrong with a file, it is no answer)
            return None

    def remember(self, key: str | None, answer: Any) -> None:
        """Keep an answer under that name, if it can be; where the disk is full, say, it is not kept."""
        if key is None:
            return
        try:
            plain = pickle.dumps(answer, protocol=5)
            _Reader(io.BytesIO(plain)).load()
        except Exception:  # noqa: BLE001  (what cannot be read back is not kept)
            return
        held = zlib.compress(plain, level=1)
        with suppress(OSError):
            number, part = tempfile.mkstemp(prefix=".part-", dir=self.folder)
            try:
                with os.fdopen(number, "wb") as file:
                    file.write(_HEAD + _digest(key, held) + held)
                Path(part).replace(self.folder / key)
            finally:
                Path(part).unlink(missing_ok=True)


def cache_in(folder: Path | None) -> Cache | None:
    """Return what keeps answers in a folder, which is made if it is not there.

    InputError if it is none that can be written.
    """
    if folder is None:
        return None
    hint = "give a folder that can be written, or leave --cache out"
    if exists(folder) and not is_folder(folder):
        raise InputError(f"--cache {shown(folder)}: is a file, expected a folder", hint)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except (OSError, ValueError) as problem:
        raise InputError(f"--cache {shown(folder)}: {why(problem, 'written')}", hint) from None
    return Cache(folder)


def _parts(data: bytes) -> tuple[bytes, bytes, bytes]:
    """Return the head of a file, its digest, and what it holds."""
    head, end = len(_HEAD), len(_HEAD) + hashlib.sha256().digest_size
    return data[:head], data[head:end], data[end:]


def _digest(key: str, held: bytes) -> bytes:
    return hashlib.sha256(key.encode() + held).digest()


class _Reader(pickle.Unpickler):
    """Makes values of floorflow's own types and arrays, and calls nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _PLAIN:
            return super().find_class(module, name)
        if module.partition(".")[0] == "floorflow" and "__" not in module and "." not in name:
            found = super().find_class(module, name)
            if isinstance(found, type) and found.__module__ == module and _is_value(found):
                return found
        raise pickle.UnpicklingError(f"{module}.{name}: is no value of floorflow")


_PLAIN = {
    *(("builtins", name) for name in ("set", "frozenset", "complex")),
    *(("numpy", name) for name in ("ndarray", "dtype")),
    *((f"numpy.{core}.multiarray", name) for core in ("_core", "core") for name in ("_reconstruct", "scalar")),
    *((f"numpy.{core}.numeric", "_frombuffer") for core in ("_core", "core")),
    ("collections", "OrderedDict"),
    ("fractions", "Fraction"),
}


def _is_value(kind: type) -> bool:
    return is_dataclass(kind) or issubclass(kind, Enum | BaseModel | tuple)


def _told(value: Any, known: _Digests) -> Iterator[bytes]:
    """Yield what tells a value from all others, the same in every process.

    Raises NotTold if it has an identity of its own, as open files, locks and functions made inside others have.
    """
    kind = type(value)
    if value is None or kind in (bool, int, float, complex, Fraction):
        yield f"{kind.__name__} {value!r}".encode()
    elif isinstance(value, str | bytes | PurePath | Enum):
        yield _name(kind)
        yield value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogateescape")
    elif isinstance(value, Mapping):
        yield b"mapping %d" % len(value)
        for name, held in value.items():
            yield from _told(name, known)
            yield from _told(held, known)
    elif isinstance(value, set | frozenset):
        yield b"set %d" % len(value)
        yield from sorted(b"".join(_sized(_told(one, known))) for one in value)
    elif isinstance(value, list | tuple):
        yield _name(kind) + b" %d" % len(value)
        for one in value:
            yield from _told(one, known)
    elif hasattr(value, "tobytes") and hasattr(value, "dtype"):
        yield f"array {value.shape} {value.dtype.str}".encode()
        yield _objects(value) if value.dtype.hasobject else value.tobytes()
    else:
        yield from _told_value(value, kind, known)


def _objects(array: Any) -> bytes:
    """Return a digest of an array's objects, of which there may be many: pickled without references they are values."""
    held = io.BytesIO()
    pickler = pickle.Pickler(held, protocol=5)
    pickler.fast = True
    pickler.dump(array.tolist())
    return hashlib.sha256(held.getbuffer()).digest()


def _told_value(value: Any, kind: type, known: _Digests) -> Iterator[bytes]:
    """Yield the parts of a value, or the digest of many if it never changes: the same value is told again and again."""
    if id(value) in known:
        yield known[id(value)][1]
        return
    parts = list(_told_by_parts(value, kind, known))
    made_as = getattr(kind, "__dataclass_params__", None)
    if len(parts) > _MANY and made_as is not None and made_as.frozen:
        known[id(value)] = value, hashlib.sha256(b"".join(_sized(parts))).digest()
        parts = [known[id(value)][1]]
    yield from parts


def _told_by_parts(value: Any, kind: type, known: _Digests) -> Iterator[bytes]:
    if isinstance(value, BaseModel):
        kept = [name for name, one in kind.model_fields.items() if not one.exclude]  # type: ignore[attr-defined]
        yield _name(kind) + b" " + " ".join(sorted(value.model_fields_set & set(kept))).encode()
        parts: Iterable[Any] = [getattr(value, name) for name in kept]
    elif is_dataclass(value) and not isinstance(value, type):
        yield _name(kind)
        parts = [getattr(value, part.name) for part in fields(value) if part.compare]
    elif isinstance(value, partial):
        yield b"partial"
        parts = (value.func, value.args, value.keywords)
    elif isinstance(value, type | FunctionType) and "<" not in value.__qualname__:
        yield f"{value.__module__} {value.__qualname__}".encode()
        parts = ()
    elif kind.__module__.startswith("floorflow.") and hasattr(value, "__dict__"):
        yield _name(kind)
        parts = (vars(value),)
    else:
        raise NotTold(kind.__name__)
    for part in parts:
        yield from _told(part, known)


def _sized(parts: Iterable[bytes]) -> Iterator[bytes]:
    return (b"%d:%s" % (len(part), part) for part in parts)


def _name(kind: type) -> bytes:
    return f"{kind.__module__}.{kind.__qualname__}".encode()


SOLVES_WITH = ("networkx", "numpy", "onnx", "ortools", "pydantic", "pymetis", "pyyaml")


@cache
def _own() -> bytes:
    """Return a digest of floorflow's files and of what it computes with: another version answers otherwise."""
    package = Path(__file__).parent.parent
    parts = [_files(folder) for folder in (package, package.parent / "platforms", package.parent / "tcl")]
    versions = (sys.version, platform.machine(), *(f"{name} {version(name)}" for name in SOLVES_WITH))
    return hashlib.sha256(b"".join([*parts, *(line.encode() for line in versions)])).digest()


def _files(folder: Path) -> bytes:
    digest = hashlib.sha256()
    paths = (path for path in folder.rglob("*") if path.suffix in {".py", ".yaml", ".json", ".tcl", ".in"})
    for path in sorted(paths):
        data = path.read_bytes()
        digest.update(f"{path.relative_to(folder)} {len(data)}\n".encode() + data)
    return digest.digest()


def code_of(value: object) -> object:
    """Return what tells the code of a value's type where that is not floorflow's own, which every question has.

    Where its files are not known no question with it can be told.
    """
    return _code_below(type(value).__module__.partition(".")[0])


@cache
def _code_below(package: str) -> object:
    file = getattr(importlib.import_module(package), "__file__", None)
    if package == "floorflow":
        return package
    return object() if file is None else _files(Path(file).parent)
