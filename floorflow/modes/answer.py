"""A plan that was made for the same question before, in the folder of ``--cache``."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from floorflow.backends.backend import backend_named
from floorflow.errors import Refused
from floorflow.facts import Extras, Plan, read_extras
from floorflow.modes.run import Run
from floorflow.output.cache import Cache, code_of
from floorflow.reading import is_folder, read_bytes
from floorflow.record.run import PlanWithFiles
from floorflow.request import Request
from floorflow.search.candidate.preparing import platform_of
from floorflow.search.candidate.progress import Progress
from floorflow.solver import workers
from floorflow.stats import kept_by


@dataclass(frozen=True)
class KeptPlan:
    """The files of a plan, and whether something is told beside it."""

    files: Mapping[str, str | bytes]
    has_extras: bool


@dataclass(frozen=True)
class Question:
    """What a run asks: the requests of all networks, and what several ask for beside; ``cache``: where answers are."""

    cache: Cache | None
    run: Run
    each: Sequence[Request]
    beside: Any = None

    @cached_property
    def key(self) -> str | None:
        """The name of the answer, None where none is kept."""
        return None if self.cache is None else self.cache.key_of("plan", self.each, self.beside, *self._read())

    def _read(self) -> Iterator[Any]:
        """Yield what decides on a plan beside requests: contents of files, code that is not ours, and measurements."""
        request = self.run.request
        platform, backend = platform_of(request), backend_named(request.backend)
        yield from (platform.files, self.run.measured, code_of(backend), request.time_limit is None)
        for source, one in zip(self.run.models, self.each, strict=True):
            yield source.sha256
            if one.folding is not None:
                dataflow = backend.lower(source, platform.technology, one.backend_options)
                yield from map(_digest_of, backend.folding_inputs(dataflow, one.folding))
        for path in (request.constraints, request.stay_near, request.start_from):
            yield None if path is None else _digest_of(path / "plan.json" if is_folder(path) else path)

    def answer(self) -> PlanWithFiles | Refused | None:
        """Return what an earlier run came to, None if none did."""
        known = None if self.cache is None else self.cache.recall(self.key)
        if not isinstance(known, KeptPlan):
            return known if isinstance(known, Refused) else None
        plan = Plan.model_validate_json(known.files["plan.json"])
        asked, hosts = self.run.request, plan.dma_memories
        asked = asked.changed(host_port=hosts[0], replicas=None) if plan.copy_memories else asked
        platform = platform_of(asked, len(plan.platform.fpgas), hosts)
        return PlanWithFiles(plan, platform, dict(known.files), extras=_not_kept if known.has_extras else None)

    def keep(self, made: PlanWithFiles | Refused) -> None:
        """Keep what a run came to, unless a signal or the clock cut it short."""
        if self.cache is None:
            return
        if isinstance(made, Refused):
            if not made.interrupted and self.run.request.time_limit is None:
                self.cache.remember(self.key, made)
        elif not made.plan.interrupted:
            self.cache.remember(self.key, KeptPlan(made.files, made.extras is not None))

    def with_extras(self, made: PlanWithFiles, again: Callable[[], PlanWithFiles]) -> PlanWithFiles:
        """Return a plan with what is told beside it as it was, or worked out; ``again``: where that takes a search."""
        if self.cache is None or made.extras is None or made.plan.interrupted:
            return made
        cache, beside, work_out = self.cache, self.cache.key_of("extras", self.key), made.extras

        def extras(progress: Progress) -> Extras | None:
            known = cache.recall(beside)
            if isinstance(known, str):
                return read_extras(known.encode()) if known else None
            with kept_by(cache), workers(self.run.request.jobs):
                way = again().extras if work_out is _not_kept else work_out
                found = None if way is None else way(progress)
            cache.remember(beside, "" if found is None else found.to_json())
            return found

        return replace(made, extras=extras)


def _not_kept(_progress: Progress) -> Extras | None:
    """Stand for what is told beside a plan whose run ended before that was worked out."""
    raise LookupError


def _digest_of(path: Path) -> str:
    return hashlib.sha256(read_bytes(path, "model", "put it back")).hexdigest()
