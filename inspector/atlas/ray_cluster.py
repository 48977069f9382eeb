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
from collections.abc import Callable, Iterator
from concurrent import futures
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager
from functools import partial
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_RETRIES = 3  # of a unit whose machine died; a unit leaves nothing half done, so it may run again


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

    cpus, gpus: what a task takes of its machine, and so how many run there at once. A task whose machine dies runs
    again elsewhere.
    """

    def __init__(self, *, cpus: float = 1, gpus: float = 0) -> None:
        """Take calls for the cluster; ValueError where this process has joined none."""
        ray = _ray()
        if not ray.is_initialized():
            raise ValueError("this process has joined no Ray cluster: call inspector.atlas.ray_cluster.connect first")
        # One thread, set before the worker imports torch: the bytes of an atlas depend on it.
        threads = {"env_vars": {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}}
        self._options = {"num_cpus": cpus, "num_gpus": gpus, "max_retries": _RETRIES, "runtime_env": threads}
        self._remote = ray.remote(_call)
        self._tasks: dict[Future[Any], Any] = {}
        self._closed = False

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
        broken = BrokenExecutor(f"a task was lost on the cluster ({type(error).__name__})")
        future.set_exception(cause if isinstance(cause, Exception) else broken)

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
