"""Certificates made with the openssl program: good ones, and those that nobody should trust."""

import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Certificate:
    """PEM files."""

    file: Path
    key: Path

    def server_context(self, client_authority=None):
        """For whoever serves with it. `client_authority`: the file of a CA; clients have to have a certificate of it."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.file, self.key)
        if client_authority:
            context.load_verify_locations(client_authority)
            context.verify_mode = ssl.CERT_REQUIRED
        return context


class Authority:
    """A CA of its own in a folder; `file` is its certificate."""

    def __init__(self, folder, name="ca"):
        self._folder, self._name, self._issued = Path(folder), name, 0
        self._folder.mkdir(parents=True, exist_ok=True)
        self.file, self._key = self._folder / f"{name}.pem", self._folder / f"{name}.key"
        _openssl("req", "-x509", *_NEW_KEY, "-keyout", self._key, "-out", self.file, "-days", "30", "-subj", f"/CN={name}")

    def issue(self, *names, days=30):
        """A certificate for names (`DNS:gate.test`, `IP:127.0.0.1`, `email:...`, `URI:...`), the first of which is its
        common name, too. `days`: it has expired if they are negative."""
        self._issued += 1
        file = self._folder / f"{self._name}-{self._issued}.pem"
        key, request, extensions = (file.with_suffix(suffix) for suffix in (".key", ".csr", ".ext"))
        extensions.write_text(f"subjectAltName={','.join(names)}\n")
        _openssl("req", *_NEW_KEY, "-keyout", key, "-out", request, "-subj", f"/CN={names[0].partition(':')[2]}")
        _openssl("x509", "-req", "-in", request, "-CA", self.file, "-CAkey", self._key, "-days", str(days),
                 "-CAcreateserial", "-extfile", extensions, "-out", file)
        return Certificate(file, key)


_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc")


def _openssl(*arguments):
    result = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
