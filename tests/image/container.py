"""What an engine does with an image, without one: a mount namespace, the image's user, a root that nobody can write to."""

import os
import signal
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

from waiting import eventually


@dataclass
class Image:
    """As scripts/test-image.sh hands it over: its files, mounted, and what `buildah inspect` says."""
    root: Path
    said: dict

    @property
    def config(self):
        return self.said["Docker"]["config"]

    @property
    def files(self):
        """All of it, without following links."""
        return [Path(folder) / name for folder, folders, names in os.walk(self.root) for name in (*folders, *names)]


#: $0 is the image's root, $1 USER:GROUP; then `FILE PLACE` pairs to `--`, and the command. Nothing but these files and folders can be
#: written to, and the process has no capability.
ENTER = """
set -e
root=$0 user=$1
shift
mount --bind "$root" "$root"
while [ "$1" != -- ]; do mount --bind "$1" "$root/$2"; shift 2; done
shift
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -o remount,bind,ro "$root"
exec setpriv --no-new-privs chroot --userspec="$user" --groups= "$root" "$@"
"""


class Container:
    """A running image. `mounted`: {place in it: file or folder here}; the network is that of the test."""

    def __init__(self, image, mounted=None, arguments=None):
        self.image = image
        pairs = [part for place, here in (mounted or {}).items() for part in (here, place.lstrip("/"))]
        for place, here in (mounted or {}).items():  # as engines do, in the writable layer
            path = image.root / place.lstrip("/")
            (path if Path(here).is_dir() else path.parent).mkdir(parents=True, exist_ok=True)
            if not Path(here).is_dir():
                path.touch()
        said = image.config
        command = [*said["Entrypoint"], *(said["Cmd"] if arguments is None else arguments)]
        self.process = subprocess.Popen(
            ["unshare", "--mount", "--propagation", "private", "--", "sh", "-c", ENTER, image.root, said["User"], *pairs, "--",
             *command], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    @property
    def environment(self):
        inside = dict(each.split("=", 1) for each in self.image.config["Env"])
        return {**inside, "PATH": f"{inside['PATH']}:/usr/sbin:/bin:/sbin"}  # what is behind its own is not there in it

    def run(self, *command):
        """Another process beside the one that runs, as `docker exec` and health checks are."""
        user, group = self.image.config["User"].split(":")
        return subprocess.run(
            ["nsenter", f"--target={self.process.pid}", "--mount", "--root", "--wd=/", f"--setuid={user}", f"--setgid={group}",
             *command], env=self.environment, capture_output=True, text=True, timeout=30)

    def check_health(self):
        kind, *command = self.image.config["Healthcheck"]["Test"]
        assert kind == "CMD"  # no shell
        return self.run(*command)

    def status(self, key):
        """A field of the process' own /proc/PID/status, as words."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return next(line for line in text.splitlines() if line.startswith(key + ":")).split()[1:]

    def await_port(self, port):
        def accepts():
            assert self.process.poll() is None, self.process.stdout.read()
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
            except OSError:
                return False
            return True
        eventually(accepts, f"somebody at {port}", 20)

    def stop(self):
        """@return the exit status and what it has said"""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            said, _ = self.process.communicate(timeout=40)
        finally:
            self.process.kill()
        return self.process.returncode, said
