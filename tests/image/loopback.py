"""A network of one's own has a loopback device that is down, and `ip` is not everywhere."""

import fcntl
import socket
import struct

SIOCSIFFLAGS, IFF_UP, IFF_RUNNING = 0x8914, 1, 64  # Source: netdevice(7)


def bring_up():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh", b"lo", IFF_UP | IFF_RUNNING))
