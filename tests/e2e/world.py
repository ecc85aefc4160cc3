"""What tests, senders and stores have of the machine: its sockets, its threads and its clocks, or in a simulation simulated.py's.

Who writes a sender or a store takes `select`, `socket`, `threading` and `time` from here, and it plays in both.
"""

import os

#: tests/scenes say so before anything else is imported.
SIMULATED = "SERIESGATE_SIMULATION" in os.environ

if SIMULATED:
    from simulated import ThreadPoolExecutor, secure, select, socket, threading, time
else:
    import select
    import socket
    import threading
    import time
    from concurrent.futures import ThreadPoolExecutor

    def secure(context, plain, **how):
        """TLS over a connected socket. @param context an ssl.SSLContext"""
        return context.wrap_socket(plain, **how)

__all__ = ["SIMULATED", "ThreadPoolExecutor", "secure", "select", "socket", "threading", "time"]
