"""An atlas on a Ray cluster whose machines come late and are killed, with a text that kills every worker it meets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import models
from inspector import atlas
from inspector.atlas import block, merging, planning
from inspector.atlas.aside import Without
from inspector.atlas.running import run
from tests.inspector.atlas import poison, sentences

ROOT = Path(__file__).parents[3]
TREES = Path(__file__).parent / "sentences.conllu"
MODEL = "own-encoder"
BLOCK, POISONED = 4, 21
PATIENCE = 1800  # seconds, at most, on a machine that does much else; nothing is held to a time

pytestmark = pytest.mark.heavy

_CLUSTER = """
import json
import sys
import time
from pathlib import Path

from inspector import atlas
from inspector.atlas import building
from inspector.atlas.ray_cluster import RayExecutor, _ray, connect
from tests.inspector.atlas.poison import OnACluster

ray = _ray()  # as `connect` does, it turns the usage statistics off before Ray is there
from ray.cluster_utils import Cluster

corpus, trees, out, model, size, seen = sys.argv[1:]
place = {"num_cpus": 2, "node_ip_address": "127.0.0.1"}
cluster = Cluster(initialize_head=True, head_node_args={**place, "include_dashboard": False})
other = cluster.add_node(**place)
building.MeasureBlock = OnACluster


def node(number: int) -> str:
    time.sleep(1)
    return ray.get_runtime_context().get_node_id()


calls, sizes = [], []


def tell(done: int, total: int) -> None:
    calls.append(done)
    sizes.append(executor.slots())
    if len(calls) == 1:  # two machines come late
        cluster.add_node(**place)
        cluster.add_node(**place)
    if len(calls) == 6:  # one is killed with -9 in the middle of its work
        cluster.remove_node(other, allow_graceful=False)


with connect(cluster.address), RayExecutor() as executor:
    assert executor.slots() == 4
    asked = [executor.submit(node, number) for number in range(6)]
    assert len({one.result() for one in asked}) == 2, "tasks run on both nodes"
    made = atlas.build(model, [Path(corpus), Path(trees)], out=out, block_texts=int(size), executor=executor,
                       on_progress=tell)
    assert made is not None
    assert {one["NodeManagerAddress"] for one in ray.nodes()} == {"127.0.0.1"}
    time.sleep(1.1)
    report = {"sizes": sorted({*sizes, executor.slots()}), "alive": executor.slots()}
    Path(seen).write_text(json.dumps(report), encoding="utf-8")
    from ray._common.usage import usage_lib
    assert not usage_lib.usage_stats_enabled()
    try:
        executor.submit(int, "no number").result()
    except ValueError as error:
        assert "Traceback" not in str(error)
    else:
        raise AssertionError("an error of a task is lost")
cluster.shutdown()
"""


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_four_nodes_of_which_two_come_late_one_is_killed_and_a_text_kills_its_workers(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="Ray is not installed: pip install -r requirements-cluster.txt")
    corpus, out, home = tmp_path / "corpus.txt", tmp_path / "atlas", tmp_path / "home"
    seen = tmp_path / "seen.json"  # a file, for Ray writes its nodes' complaints to this process's output at any time
    texts = sentences.sentences(60)
    texts[POISONED] = f"She drank {poison.DEADLY} and slept."
    corpus.write_text("\n".join(texts), encoding="utf-8")
    home.mkdir()
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("RAY_USAGE")},
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(ROOT),
        "HOME": str(home),
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # 127.0.0.1 stays 127.0.0.1
        "RAY_worker_register_timeout_seconds": str(PATIENCE),
        "RAY_worker_niceness": "0",  # Ray makes its workers the last to run on a machine that does other things too
    }
    arguments = [str(corpus), str(TREES), str(out), MODEL, str(BLOCK), str(seen)]
    with TemporaryDirectory(prefix="ray") as sockets:  # a short path: a socket's has at most 107 characters
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", _CLUSTER, *arguments],
            cwd=ROOT,
            env={**environment, "RAY_TMPDIR": sockets},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
    assert done.returncode == 0, done.stderr[-2000:]
    report = json.loads(seen.read_text(encoding="utf-8"))
    assert report["alive"] == 6
    assert {4, 8} <= set(report["sizes"])
    assert Path(f"{out}.without-memory").exists(), "a worker was out of memory"
    assert atlas.open(out).aside == {POISONED: (reason := "its task was lost on the cluster (WorkerCrashedError)")}
    assert files(out) == undisturbed(corpus, tmp_path / "undisturbed", reason)


def undisturbed(corpus: Path, out: Path, reason: str) -> dict[str, bytes]:
    """The atlas that one process makes at once of the corpus without the poisoned text's numbers."""
    loaded, name = models.load(MODEL), f"{corpus.name}, {TREES.name}"
    manifest = planning.plan(loaded, [corpus, TREES], folder=out, corpus=name, block_texts=BLOCK)
    units = [number for number in range(len(manifest.blocks)) if number != POISONED // BLOCK]
    run(block.MeasureBlock(out, loaded), [*units, Without(POISONED // BLOCK, ((POISONED, reason),))])
    merging.merge(out)
    return files(out)
