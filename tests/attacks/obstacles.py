"""What is not a file in the place of one."""

import os
import stat


def in_the_way(what, path):
    if what == "fifo":
        os.mkfifo(path)
    elif what == "directory":
        path.mkdir()
    elif what == "symlink":
        path.symlink_to(path.parent.parent / "victim")
    elif what == "device":
        path.symlink_to("/dev/zero")
    elif what == "socket":
        os.mknod(path, stat.S_IFSOCK | 0o600)


OBSTACLES = ["fifo", "directory", "symlink", "device", "socket"]
