"""Certificates and the authorities that sign them, made with the program openssl."""

import subprocess
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

    def issue(self, *names, expired=False):
        """For hosts (`localhost`, `127.0.0.1`) or clients of these names."""
        self._count += 1
        made = Certificate(self.folder / f"{self._count}.pem", self.folder / f"{self._count}.key")
        alternatives = ",".join(f"{'IP' if _is_address(name) else 'DNS'}:{name}" for name in names)
        asked = made.certificate.with_suffix(".csr")
        _openssl("req", "-new", *_new_key(made.key), "-subj", f"/CN={names[0]}", "-addext",
                 f"subjectAltName={alternatives}", "-addext", "basicConstraints=CA:FALSE", "-out", asked)
        time = ("-startdate", "20200101000000Z", "-enddate", "20200102000000Z") if expired else ("-days", "2")
        _openssl("ca", "-batch", "-notext", "-config", self._settings(), *time, "-in", asked, "-out", made.certificate)
        return made

    def _settings(self):
        """The program signs with dates of one's own only by a file of settings, with a list of what it has signed."""
        (self.folder / "signed.txt").touch()
        file = self.folder / "ca.cnf"
        file.write_text(f"""
[ca]
default_ca = this
[this]
database = {self.folder}/signed.txt
new_certs_dir = {self.folder}
certificate = {self.certificate}
private_key = {self._key}
default_md = sha256
policy = any
rand_serial = yes
unique_subject = no
copy_extensions = copy
[any]
commonName = supplied
""")
        return file


def _new_key(path):
    return ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", path)


def _is_address(name):
    return name.replace(".", "").isdigit() or ":" in name


def _openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)
