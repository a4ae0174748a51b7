"""The Ray engine: tasks on a cluster, each repeated by Ray if its node dies."""

from __future__ import annotations

import logging
import os
import socket
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from voile.errors import CannotWrite, InvalidInput, MissingExtra
from voile.files.locations import Location
from voile.jobs.workers import Answer, Made, Task

RETRIES = 20
"""How often Ray repeats a task whose worker or node died, before the job gives up (and can be
continued). An error that the task itself raises is never repeated: it would come again."""

_made: tuple[str, Any] | None = None
"""What `make` made in this worker process, and for which run."""


@dataclass(frozen=True)
class Ray:
    """A Ray cluster: the one at `address`, or as many processes as this machine has cores.

    Ray starts the tasks where there is room, repeats those whose node died, and keeps the driver
    from running ahead. The output must lie on storage that every node sees.
    """

    address: str | None = None
    workers: int | None = None

    def check(self, output: Location) -> None:
        """There must be a cluster, and its nodes need storage that they share."""
        check_address(self.address)
        if not output.shared:
            raise CannotWrite(
                f"{output} is seen by one process alone; on Ray the output must lie on storage "
                "that every node sees"
            )

    def run(
        self,
        make: Callable[[], Made],
        work: Callable[[Made, Task], Answer],
        tasks: Iterator[Task],
    ) -> Iterator[Answer]:
        """`work(make(), task)` for every task as Ray tasks, answers as they come.

        `make` and `work` are put into Ray's object store once, from where each node fetches them
        once; a worker process makes its own from them, once. At most two tasks a core and two more
        are under way, and never more than `workers`, so neither memory nor the object store grows
        with the file; the cores are counted anew as nodes come and go. Ray chooses where a task
        runs and repeats it if that place dies. `work` must therefore be such that a repeated task
        does no harm.
        """
        ray = _ray()
        with _connected(ray, self.address, self.workers):
            most = (
                None if self.address is None else self.workers
            )  # without, as many cores were started
            run = uuid.uuid4().hex
            shared = ray.put((make, work))
            remote = ray.remote(num_cpus=1, max_retries=RETRIES, retry_exceptions=False)(_run)
            under_way: list[Any] = []
            try:
                for task in tasks:
                    # In a list a reference stays one: the worker fetches what it names only once.
                    under_way.append(remote.remote(run, [shared], task))
                    while len(under_way) >= _room(ray, most):
                        done, under_way = ray.wait(under_way, num_returns=1)
                        yield from _answers(ray, done)
                while under_way:
                    done, under_way = ray.wait(under_way, num_returns=1)
                    yield from _answers(ray, done)
            finally:
                _stop(ray, under_way)


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise MissingExtra("ray", extra="ray") from None
    return ray


@contextmanager
def _connected(ray: Any, address: str | None, most: int | None) -> Iterator[None]:
    """A connection for the length of a run; one that the caller made is used and left alone."""
    if ray.is_initialized():
        yield
        return
    check_address(address)
    # No advice on accelerators, and no lines of the cluster's among ours.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    options: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    if address is None:
        options |= {"num_cpus": most or os.cpu_count() or 1, "include_dashboard": False}
    try:
        ray.init(address=address or "local", **options)
    except (ray.exceptions.RayError, ConnectionError, RuntimeError, ValueError, OSError) as problem:
        raise _no_cluster(address, type(problem).__name__) from problem
    try:
        yield
    finally:
        ray.shutdown()


def check_address(address: str | None) -> None:
    """Refuse a cluster's address at once if nobody answers there; Ray itself waits for minutes."""
    if address in (None, "auto", "local"):
        return
    host, colon, port = address.rpartition(":")
    if "://" in address or not colon or not port.isdigit():
        raise InvalidInput(
            f"an address must be auto or HEAD:PORT as `ray start` prints it, got {address!r}; give "
            "the command on a machine of the cluster"
        )
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except (OSError, OverflowError) as problem:
        raise _no_cluster(address, getattr(problem, "strerror", None) or "no answer") from problem


def _no_cluster(address: str | None, reason: str) -> CannotWrite:
    return CannotWrite(
        f"there must be a Ray cluster at {address or 'this machine'}, and none can be reached "
        f"({reason}); `ray status` on its head says whether it runs"
    )


def _room(ray: Any, most: int | None) -> int:
    room = 2 * int(ray.cluster_resources().get("CPU", 1)) + 2
    return min(room, most or room)


def _answers(ray: Any, done: list[Any]) -> Iterator[Any]:
    """Answers, or the error that the task raised, or why Ray could not run it."""
    try:
        yield from ray.get(done)
    except ray.exceptions.RayTaskError as problem:
        raise problem.cause from None
    except ray.exceptions.RayError as problem:
        reason = type(problem).__name__
        raise CannotWrite(
            f"the cluster gave up on a part after {RETRIES} attempts ({reason}); the finished "
            "parts are kept, repeat the command to continue"
        ) from problem


def _stop(ray: Any, under_way: list[Any]) -> None:
    """Cancel what has not begun, and wait for what has: no one writes after this."""
    if not under_way or not ray.is_initialized():
        return
    for reference in under_way:
        ray.cancel(reference, force=False)
    ray.wait(under_way, num_returns=len(under_way), timeout=30)


def _run(run: str, shared: list[Any], task: Any) -> Any:
    """In a worker process: fetch and make once a run, then work."""
    global _made
    ray = _ray()
    if _made is None or _made[0] != run:
        make, work = ray.get(shared[0])
        _made = (run, (make(), work))
    made, work = _made[1]
    return work(made, task)
