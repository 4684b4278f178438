"""The server of pools: a process that keeps players waiting and hands each of them over, once.

    python -m grader.referee.process.pool_server --listen FD [--owner FD]

It does no more than it is told: what a kind of players is started with comes with the request, from a process
of the same user. It imports no torch and starts no threads, so that it may fork. With an owner it ends when
that one does, else when nobody has asked for a while; players that were handed over stay with who has them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import select
import shutil
import signal
import socket
import struct
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grader.referee.process.waiting_player import WaitingPlayer
from grader.referee.sandbox import bubblewrap

if TYPE_CHECKING:
    from grader.protocol.wire import Json

IDLE_S = 600.0  # then a pool is given up, and a server without an owner ends
START_S = 120.0  # for a player to be ready in; longer than a grading waits, as nobody waits for this one
YOUNG_S = 20.0  # one that still starts is handed over as well: whoever gets it has time left to wait
LOOK_S = 30.0  # between looks at what no message tells
LEAST_BYTES = 3 << 30  # of memory that must be free before another player is started
MAX_FAILURES = 2
MOST = max(8, os.cpu_count() or 1)  # players of a kind
MAX_REQUEST = 1 << 17


def available_bytes() -> int:
    """Bytes of memory that are free or can be made so; a machine that does not tell has enough."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        text = Path("/proc/meminfo").read_text()
        return int(text.split("MemAvailable:")[1].split()[0]) << 10
    return LEAST_BYTES


class Pool:
    """Keeps players of one kind ready: ``number`` of them, each of which is taken once.

    It is what one grading needs, for each that is going on.
    """

    def __init__(self, kind: str) -> None:
        self.number = 0
        self.asked_s = time.monotonic()
        self.players: list[WaitingPlayer] = []
        self._kind, self._failures = kind, 0

    def refill(self) -> None:
        """Start what is missing, unless memory is short or players of this kind do not start here."""
        while len(self.players) < self.number and self._failures < MAX_FAILURES:
            if available_bytes() < LEAST_BYTES:
                return
            self.players.append(WaitingPlayer(self._kind))

    def sort_out(self) -> None:
        """Give up those that have ended, that take too long, or that are of no use after a suspend."""
        for player in list(self.players):
            late = not player.ready and time.monotonic() - player.began_s > START_S
            if player.look() and not late and player.fresh:
                self._failures = 0 if player.ready else self._failures
                continue
            self._failures += not player.ready
            self.players.remove(player)
            player.let_go()

    def take(self) -> WaitingPlayer | None:
        """The one that is furthest; it is the taker's from now on."""
        self.asked_s = time.monotonic()
        self.sort_out()
        young_s = time.monotonic() - YOUNG_S
        there = [p for p in self.players if p.started and (p.ready or p.began_s > young_s)]
        there.sort(key=lambda p: (not p.ready, p.began_s))
        if there:
            self.players.remove(there[0])
        return there[0] if there else None

    def close(self) -> None:
        """End all that still wait."""
        for player in self.players:
            player.let_go()
        self.players.clear()


@dataclass(eq=False, slots=True)
class Client:
    """Somebody who is connected. While one of them is ``quiet`` no player is started."""

    line: socket.socket
    quiet: bool = False


class Server:
    """The loop: requests come in, players go out, and others are started in their place."""

    def __init__(self, listening: socket.socket, owner: int, idle_s: float = IDLE_S) -> None:
        self._listening, self._owner, self._idle_s = listening, owner, idle_s
        self._place = Path(listening.getsockname())
        self._clients: list[Client] = []
        self._pools: dict[str, Pool] = {}
        self._asked_s, self._ownerless = time.monotonic(), False

    def run(self) -> None:
        """Until the owner has gone, or nobody has asked for a while."""
        try:
            while self._wanted():
                if not any(client.quiet for client in self._clients):
                    for pool in self._pools.values():
                        pool.refill()
                self._wait()
                for kind, pool in list(self._pools.items()):
                    pool.sort_out()
                    if time.monotonic() - pool.asked_s > self._idle_s:
                        self._pools.pop(kind).close()
        finally:
            for pool in self._pools.values():
                pool.close()

    def _wanted(self) -> bool:
        idle = not self._clients and time.monotonic() - self._asked_s > self._idle_s
        # Without its socket, whose folder the system may have removed, nobody can ask any more.
        return self._place.exists() and not (self._ownerless if self._owner >= 0 else idle)

    def _wait(self) -> None:
        """For the next event; players' ends are among them."""
        lines = {client.line.fileno(): client for client in self._clients}
        players = [player for pool in self._pools.values() for player in pool.players]
        fds = [self._listening.fileno(), *lines, *(p.control.fileno() for p in players)]
        fds += [p.ends.line.fileno() for p in players if not p.ready]
        fds += [self._owner] if self._owner >= 0 else []
        there = select.select(fds, [], [], min(LOOK_S, self._idle_s))[0]
        if self._owner in there:
            self._ownerless = True
        for fd in there:
            if fd in lines:
                self._hear(lines[fd])
        if fds[0] in there:
            self._let_in()

    def _let_in(self) -> None:
        line, _ = self._listening.accept()
        credentials = line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        if struct.unpack("3i", credentials)[1] == os.geteuid():
            line.settimeout(2.0)
            self._clients.append(Client(line))
            self._asked_s = time.monotonic()
        else:
            line.close()

    def _hear(self, client: Client) -> None:
        self._asked_s = time.monotonic()
        try:
            request = json.loads(client.line.recv(MAX_REQUEST) or b"{}")
            if "quiet" in request:
                client.quiet = bool(request["quiet"])
            elif "kind" in request:
                self._hand_over(client, request)
            else:
                raise ValueError("no request")
        except (OSError, ValueError, KeyError, TypeError):
            self._clients.remove(client)
            client.line.close()

    def _hand_over(self, client: Client, request: Json) -> None:
        pool = self._pools.setdefault(request["kind"], Pool(request["kind"]))
        pool.number = max(0, min(MOST, int(request["number"]) * len(self._clients)))
        if "later" in request:
            return
        player = pool.take()
        if player is None:
            client.line.send(b"{}")
            return
        try:
            socket.send_fds(client.line, [json.dumps(player.described()).encode()], player.fds())
        finally:
            player.let_go()


def main() -> None:
    """Serve on a socket that listens already, so that nobody has to wait for this process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--listen", type=int, required=True)
    parser.add_argument("--owner", type=int, default=-1)
    options = parser.parse_args()
    listening = socket.socket(fileno=options.listen)
    place = Path(listening.getsockname())
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    bubblewrap.trouble()  # found out once, for all that are forked from here
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the parents of players are nobody's to wait for
    try:
        Server(listening, options.owner).run()
    finally:
        with contextlib.suppress(OSError):
            place.unlink()
        if options.owner >= 0:
            shutil.rmtree(place.parent, ignore_errors=True)


if __name__ == "__main__":
    main()
