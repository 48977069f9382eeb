"""A Ray cluster as a `concurrent.futures.Executor`, so that an atlas is built on many machines as on one.

```python
with connect("10.0.0.1:6379"), RayExecutor() as executor:
    inspector.atlas.build("minilm", "sentences.txt", out="/shared/my-atlas", executor=executor)
```

Every machine sees the atlas's folder under the same path (a shared file system), and has Headlight installed. Ray is
optional: `pip install -r requirements-cluster.txt`. Its usage statistics and its dashboard stay off.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from concurrent import futures
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from functools import partial
from typing import Any, ParamSpec, TypeVar

from inspector.atlas.processes import ENVIRONMENT
from inspector.atlas.running import LostUnit

P = ParamSpec("P")
T = TypeVar("T")

_ASKED = 1.0  # seconds for which the cluster's size is taken as it was


@contextmanager
def connect(address: str | None = None, *, workers: int | None = None) -> Iterator[None]:
    """Join a running cluster by its address ("10.0.0.1:6379", or "auto"), or start Ray on this machine alone.

    workers: cores that a cluster of this machine gives; all of them where None. Raises ValueError where Ray is not
    installed, or the cluster does not answer.
    """
    here = address is None or address.startswith("127.")
    if here:  # without it Ray takes the machine's outer address for 127.0.0.1, and listens there
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    ray = _ray()
    options: dict[str, object] = {"_node_ip_address": "127.0.0.1"} if here else {}
    options |= {"num_cpus": workers, "include_dashboard": False} if address is None else {"address": address}
    try:
        ray.init(**options, log_to_driver=False, logging_level="error")
    except (ConnectionError, ValueError, RuntimeError, TimeoutError) as error:
        raise ValueError(f"the Ray cluster {address or 'of this machine'} does not answer ({error})") from error
    try:
        yield
    finally:
        ray.shutdown()


class RayExecutor(Executor):
    """Runs each call as a Ray task on the cluster that this process has joined.

    cpus, gpus: what a task takes of its machine, and so how many run there at once. A call whose machine or worker dies
    ends as LostUnit: who handed it over runs it again. Tasks, not an actor a machine: an actor takes all cores of its
    machine or waits for them, and a cluster that grows with its queue would see no queue. What processes of a machine
    can share they share by themselves: weights are mapped from their file.
    """

    def __init__(self, *, cpus: float = 1, gpus: float = 0) -> None:
        """Take calls for the cluster; ValueError where this process has joined none."""
        ray = _ray()
        if not ray.is_initialized():
            raise ValueError("this process has joined no Ray cluster: call inspector.atlas.ray_cluster.connect first")
        # One thread, set before the worker imports torch: the bytes of an atlas depend on it.
        environment = {"env_vars": ENVIRONMENT}
        self._options = {"num_cpus": cpus, "num_gpus": gpus, "max_retries": 0, "runtime_env": environment}
        self._needs = {"CPU": cpus, "GPU": gpus}
        self._size, self._size_at = 0, -_ASKED
        self._remote = ray.remote(_call)
        self._tasks: dict[Future[Any], Any] = {}
        self._closed = False

    def slots(self) -> int:
        """Count the calls that the machines of the cluster run at once, as it is now."""
        if time.monotonic() >= self._size_at + _ASKED:
            nodes = [node["Resources"] for node in _ray().nodes() if node["Alive"]]
            needs = [(name, count) for name, count in self._needs.items() if count]
            self._size = sum(min(int(has.get(name, 0) / count) for name, count in needs) for has in nodes)
            self._size_at = time.monotonic()
        return self._size

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Hand a call to the cluster; the future has its result, or its error."""
        if self._closed:
            raise RuntimeError("cannot schedule new futures after shutdown")
        task = self._remote.options(**self._options).remote(fn, args, kwargs)
        future: Future[T] = Future()
        self._tasks[future] = task
        future.add_done_callback(partial(self._done, task))
        task.future().add_done_callback(lambda done: self._hand_on(done, future))
        return future

    def _hand_on(self, done: Future[Any], future: Future[Any]) -> None:
        """Give a task's result, or the error that it raised itself, to the caller's future."""
        if not future.set_running_or_notify_cancel():
            return
        error = done.exception()
        if error is None:
            future.set_result(done.result())
            return
        cause = getattr(error, "cause", None)  # Ray wraps what a task raises, with the traceback in its text
        if isinstance(cause, Exception) and not isinstance(cause, _ray().exceptions.RayError):
            future.set_exception(cause)
            return
        kind = type(error if cause is None else cause).__name__  # WorkerCrashedError, NodeDiedError, OutOfMemoryError
        future.set_exception(LostUnit(f"its task was lost on the cluster ({kind})"))

    def _done(self, task: Any, future: Future[Any]) -> None:
        self._tasks.pop(future, None)
        if future.cancelled():
            _ray().cancel(task)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more calls; wait for those at work, or cancel them."""
        self._closed = True
        tasks = list(self._tasks)
        if cancel_futures:
            for future in tasks:
                future.cancel()
        if wait:
            futures.wait(tasks)


def _call(fn: Callable[..., T], args: tuple[Any, ...], kwargs: dict[str, Any]) -> T:
    return fn(*args, **kwargs)


def _ray() -> Any:
    """Import Ray, with its usage statistics off.

    Raises ValueError where it is not installed.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # read when Ray is imported
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # a task without GPUs keeps those that torch sees
    try:
        import ray
    except ImportError as error:
        raise ValueError("Ray is not installed: pip install -r requirements-cluster.txt") from error
    return ray
