"""Names that the gate resolves as a test says: libnss_wrapper, preloaded (Debian package libnss-wrapper)."""

import os
from pathlib import Path

from world import SIMULATED

if SIMULATED:
    import simulated

LIBRARY = Path("/usr/lib") / f"{os.uname().machine}-linux-gnu" / "libnss_wrapper.so"


class FakedNames:
    """A hosts file of the gate's own, read anew whenever it changes. The library cannot do that for two threads at once, so
    the gate's configuration has to have `one_thread`."""

    one_thread = "server: {threads: 1}\n"

    def __init__(self, folder):
        self._file = Path(folder) / "hosts"
        self.environment = {}
        self._names = set()
        if not SIMULATED:
            assert LIBRARY.exists(), "install the Debian package libnss-wrapper"
            self.environment = {"LD_PRELOAD": str(LIBRARY), "NSS_WRAPPER_HOSTS": str(self._file)}
        self.set()

    def set(self, **addresses):
        """From here on `name="127.0.0.1"`, and no other."""
        if SIMULATED:
            for name in self._names - set(addresses):
                simulated.STAGE.ask("no_name", name)
            for name, address in addresses.items():
                simulated.STAGE.ask("name", name, address)
            self._names |= set(addresses)
            return
        fresh = self._file.with_suffix(".new")
        fresh.write_text("".join(f"{address} {name}\n" for name, address in addresses.items()))
        fresh.rename(self._file)
