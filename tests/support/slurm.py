"""A Slurm cluster on this machine: a controller and nodes on loopback, from Debian's `slurm-wlm`.

The daemons need root, because a node starts jobs as their user.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

DAEMONS = ("munged", "slurmctld", "slurmd", "sbatch")
START_SECONDS = 30.0
_SETTINGS = """
ClusterName=loopback
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldPort={port}
SlurmdPidFile={folder}/%n.pid
SlurmdSpoolDir={folder}/spool-%n
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmdTimeout=10
MpiDefault=none
{nodes}
PartitionName=all Nodes={names} Default=YES MaxTime=INFINITE State=UP
"""


@dataclass(frozen=True)
class Slurm:
    """`environment` is that of Slurm's commands; `nodes` are the processes of slurmd by name."""

    folder: Path
    environment: dict[str, str]
    nodes: dict[str, subprocess.Popen[bytes]]

    def ask(self, *command: str) -> str:
        """The output of a command of Slurm."""
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    def running(self) -> dict[str, str]:
        """The nodes of the running jobs by the jobs' numbers."""
        lines = self.ask("squeue", "--noheader", "--states=RUNNING", "--format=%i %N").splitlines()
        return dict(line.split() for line in lines)

    def kill_node(self, name: str) -> None:
        """Kills a node's daemon and all processes of its jobs, as a power failure does."""
        jobs = [job for job, node in self.running().items() if node == name]
        self.nodes[name].kill()
        for job in jobs:
            _kill_all(f"SLURM_JOB_ID={job}")


def why_not() -> str:
    """Why no Slurm can start here; empty if it can."""
    missing = [name for name in DAEMONS if _find(name) is None]
    if missing:
        return f"it needs Debian's slurm-wlm: there is no {missing[0]}"
    return "" if os.geteuid() == 0 else "the daemons of Slurm need root"


@contextmanager
def start_slurm(folder: Path, nodes: tuple[str, ...] = ("n1", "n2")) -> Iterator[Slurm]:
    """A cluster with nodes of one core each. Raises AssertionError if it does not start."""
    port, *ports = _free_ports(1 + len(nodes))
    described = (
        f"NodeName={name} NodeHostname={socket.gethostname()} NodeAddr=127.0.0.1 Port={each}"
        " CPUs=1 RealMemory=4000 State=UNKNOWN"
        for name, each in zip(nodes, ports, strict=True)
    )
    settings = folder / "slurm.conf"
    settings.write_text(
        _SETTINGS.format(
            host=socket.gethostname(),
            folder=folder,
            port=port,
            nodes="\n".join(described),
            names=",".join(nodes),
        )
    )
    (folder / "state").mkdir()
    folder.chmod(0o755)  # munged requires that others cannot write
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    environment = {**os.environ, "SLURM_CONF": str(settings)}
    started: list[subprocess.Popen[bytes]] = []

    def start(name: str, *arguments: str) -> subprocess.Popen[bytes]:
        with (folder / f"{name}.out").open("ab") as log:
            command = [str(_find(name)), *arguments]
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        started.append(process)
        return process

    try:
        start(
            *("munged", "--foreground", f"--key-file={key}", f"--socket={folder}/munge.socket"),
            *(f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log"),
            *(f"--seed-file={folder}/munged.seed", "--force"),
        )
        _wait(lambda: (folder / "munge.socket").exists(), folder)
        start("slurmctld", "-D")
        processes = {name: start("slurmd", "-D", "-N", name) for name in nodes}
        cluster = Slurm(folder, environment, processes)
        _wait(lambda: _count_idle(cluster) == len(nodes), folder)
        yield cluster
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        _kill_all(f"SLURM_CONF={settings}")  # jobs and their supervisors


def _kill_all(variable: str) -> None:
    """Kills the processes with this environment variable."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if variable.encode() in (process / "environ").read_bytes().split(b"\0"):
                os.kill(int(process.name), signal.SIGKILL)


def _find(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")


def _count_idle(cluster: Slurm) -> int:
    try:
        nodes = cluster.ask("sinfo", "--noheader", "--Node", "--format=%N %t").splitlines()
    except subprocess.CalledProcessError:
        return 0
    return sum(line.endswith(" idle") for line in nodes)


def _wait(ready: Callable[[], bool], folder: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not ready():
        if time.monotonic() > deadline:
            logs = "\n".join(path.read_text()[-2000:] for path in folder.glob("*.log"))
            raise AssertionError(f"Slurm does not start:\n{logs}")
        time.sleep(0.2)


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports
