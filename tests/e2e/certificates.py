"""Certificates and the authorities that sign them, made with the program openssl."""

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Certificate:
    certificate: Path
    key: Path


class Authority:
    """Signs certificates, in a folder of its own; `certificate` is what one who believes it needs."""

    def __init__(self, folder, name="authority"):
        self.folder = Path(folder) / name
        self.folder.mkdir(parents=True)
        self.certificate, self._key = self.folder / "ca.pem", self.folder / "ca.key"
        self._count = 0
        _openssl("req", "-x509", *_new_key(self._key), "-days", "2", "-subj", f"/CN={name}", "-addext",
                 "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=keyCertSign,cRLSign", "-out", self.certificate)

    def issue(self, *names, days=2):
        """For hosts (`localhost`, `127.0.0.1`) or clients of these names. With 0 days it has expired."""
        self._count += 1
        made = Certificate(self.folder / f"{self._count}.pem", self.folder / f"{self._count}.key")
        alternatives = ",".join(f"{'IP' if _is_address(name) else 'DNS'}:{name}" for name in names)
        _openssl("req", "-x509", *_new_key(made.key), "-days", days, "-subj", f"/CN={names[0]}", "-addext",
                 f"subjectAltName={alternatives}", "-addext", "basicConstraints=CA:FALSE", "-CA", self.certificate,
                 "-CAkey", self._key, "-out", made.certificate)
        if days == 0:
            time.sleep(1.1)  # it ends with the second in which it was made
        return made


def _new_key(path):
    return ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", path)


def _is_address(name):
    return name.replace(".", "").isdigit() or ":" in name


def _openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)
