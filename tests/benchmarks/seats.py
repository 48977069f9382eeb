"""A class at once: what each seat takes of memory, and what fifty who press at the same moment wait beside one alone.

    python tests/benchmarks/seats.py [--seats 50] [--texts 6]

Serves the page with HEADLIGHT_SESSIONS as many as there are seats, once with the caches' own budgets and once with
small ones. Seats are websockets from one address, as of a class behind one router; each opens a page on its own text,
then all press Inspect at the same moment, text after text. Prints the server's memory by seats and by texts, the wait
of one alone and of all at once, and what the next visitor gets. Waits count only as ratios where others use the cores.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import sys
import urllib.error
import urllib.request
from contextlib import AsyncExitStack
from pathlib import Path
from time import monotonic

sys.path.insert(0, str(Path(__file__).parents[2]))

import psutil

from tests.benchmarks.running_app import serve
from tests.benchmarks.socket_session import SocketSession
from tests.benchmarks.visitors import FILLING

PORT = 8664
PAGES = ("", "compare", "what_if", "block", "layernorm", "positions", "tokens", "scores")
MODELS = ("minilm", "mini-bert", "mini-gpt")
STEPS = (1, 5, 10, 20, 30, 50)
BUDGETS = {"512": "512 MB each, the defaults", "32": "32 MB each"}  # of HEADLIGHT_CACHE_MB and HEADLIGHT_MAPS_MB
WORDS = 20  # of a text


async def sit(address: str, server: psutil.Process, *, seats: int, texts: int) -> None:
    """Fill the seats, let all read, and print what was measured."""
    chance = random.Random(0)

    def sentence(seat: int) -> str:
        return f"Seat {seat} " + " ".join(chance.choices(FILLING, k=WORDS))

    def megabytes() -> float:
        return sum(one.memory_info().rss for one in (server, *server.children(recursive=True))) / 2**20

    async def press(seat: int) -> float:
        begun = monotonic()
        await sessions[seat].change({"text": sentence(seat)}, press="Inspect")
        return monotonic() - begun

    print(f"  nobody yet: {megabytes():.0f} MB")
    sessions: list[SocketSession] = []
    async with AsyncExitStack() as stack:
        for seat in range(seats):
            session = await stack.enter_async_context(SocketSession.at(address))
            await session.open(PAGES[seat % len(PAGES)], model=MODELS[seat % len(MODELS)], text=sentence(seat))
            sessions.append(session)
            if seat + 1 in STEPS:
                print(f"  {seat + 1:3} seats: {megabytes():.0f} MB", flush=True)
        request = urllib.request.Request(address, headers={"Accept": "text/html"})
        try:
            status = (await asyncio.to_thread(urllib.request.urlopen, request)).status
        except urllib.error.HTTPError as refused:
            status = refused.code
        print(f"  the next visitor: {status}")
        alone = statistics.median([await press(seat) for seat in range(min(8, seats))])
        for text in range(1, texts + 1):
            waits = sorted(await asyncio.gather(*(press(seat) for seat in range(seats))))
            print(
                f"  text {text} of all: {megabytes():.0f} MB; waits beside one alone ({alone:.2f} s): "
                f"median {statistics.median(waits) / alone:.0f} x, last {waits[-1] / alone:.0f} x",
                flush=True,
            )
    await asyncio.sleep(10)
    print(f"  ten seconds after all left: {megabytes():.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seats", type=int, default=50)
    parser.add_argument("--texts", type=int, default=6)
    arguments = parser.parse_args()
    for budget, told in BUDGETS.items():
        caches = {"HEADLIGHT_CACHE_MB": budget, "HEADLIGHT_MAPS_MB": budget}
        with serve(port=PORT, environment={"HEADLIGHT_SESSIONS": str(arguments.seats), **caches}) as address:
            server = next(one for one in psutil.Process().children() if "streamlit" in " ".join(one.cmdline()))
            print(f"{arguments.seats} seats, caches of {told}", flush=True)
            asyncio.run(sit(address, server, seats=arguments.seats, texts=arguments.texts))


if __name__ == "__main__":
    main()
