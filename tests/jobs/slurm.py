"""A Slurm of one node, with daemons of its own, in a folder; it needs root and Debian's slurmctld and slurmd."""

from __future__ import annotations

import fcntl
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.tools import need_program

CONF = """\
ClusterName=floorflow
SlurmctldHost={host}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SlurmctldPort={port}
SlurmdPort={next_port}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=1,batch_sched_delay=0,defer_batch
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
MinJobAge=300
NodeName={host} CPUs=8 RealMemory=100000 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""
PROFILE = """\
executor: slurm
slurm-no-account: true
slurm-status-command: squeue
slurm-init-seconds-before-status-checks: 2
seconds-between-status-checks: 1
latency-wait: 10
default-resources:
  - slurm_partition=main
"""
SYSTEM = Path("/etc/slurm/slurm.conf")


def free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as other:
        one.bind(("", 0))
        other.bind(("", 0))
        return one.getsockname()[1], other.getsockname()[1]


@contextmanager
def slurm(folder: Path) -> Iterator[None]:
    """Run the daemons, one Slurm on this machine at a time."""
    programs = {name: need_program(name) for name in ("munged", "slurmctld", "slurmd", "sinfo", "sbatch")}
    folder.mkdir()
    for name in ("state", "spool", "munge"):
        (folder / name).mkdir(mode=0o700)
    key = folder / "munge" / "key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    port, next_port = free_ports()
    host = socket.gethostname().split(".")[0]
    conf = folder / "slurm.conf"
    conf.write_text(CONF.format(folder=folder, port=port, next_port=next_port, host=host))
    munge = ["--foreground", "--force", f"--key-file={key}", f"--socket={folder}/munge.socket"]
    munge += [f"--pid-file={folder}/munge/pid", f"--log-file={folder}/munge/log", f"--seed-file={folder}/munge/seed"]
    with ExitStack() as held:
        held.enter_context(known_everywhere(conf))
        for words in (
            [programs["munged"], *munge],
            [programs["slurmctld"], "-D", "-f", str(conf)],
            [programs["slurmd"], "-D", "-f", str(conf)],
        ):
            with (folder / f"{Path(words[0]).name}.out").open("w") as out:
                process = subprocess.Popen(words, stdout=out, stderr=out, start_new_session=True)
            held.callback(ended, process)
            time.sleep(0.5)
        for _ in range(100):
            told = subprocess.run([programs["sinfo"], "-h", "-o", "%T"], capture_output=True, text=True, check=False)
            if told.stdout.strip() == "idle":
                break
            time.sleep(0.2)
        else:
            logs = "\n".join(path.read_text()[-2000:] for path in [*folder.glob("*.log"), *folder.glob("*.out")])
            raise AssertionError(f"Slurm does not come up: {told.stdout}{told.stderr}\n{logs}")
        yield


@contextmanager
def known_everywhere(conf: Path) -> Iterator[None]:
    """Let the configuration be the machine's: jobs, which have no environment of ours, look for it there alone."""
    SYSTEM.parent.mkdir(parents=True, exist_ok=True)
    with (SYSTEM.parent / "floorflow-tests.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if SYSTEM.is_symlink():
            SYSTEM.unlink()
        if SYSTEM.exists():
            pytest.skip(f"{SYSTEM} is that of a Slurm of this machine's")
        SYSTEM.symlink_to(conf)
        try:
            yield
        finally:
            SYSTEM.unlink()


def ended(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
