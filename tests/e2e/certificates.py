"""Certificates and the authorities that sign them, made with the program openssl."""

import re
import ssl
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
        alternatives = ",".join(f"{'IP' if _is_address(name) else 'DNS'}:{name}" for name in names)
        return self._sign(names[0], ("-addext", f"subjectAltName={alternatives}"), expired)

    def issue_odd(self, common_name, host=None):
        """As no authority should: for names, as bytes, of whatever there is (in UTF-8 in the first one)."""
        alternatives = () if host is None else ("-addext", f"subjectAltName=DER:{_host_in_der(host).hex(':')}")
        return self._sign(common_name.decode(), alternatives, False)

    def _sign(self, common_name, alternatives, expired):
        self._count += 1
        made = Certificate(self.folder / f"{self._count}.pem", self.folder / f"{self._count}.key")
        asked = made.certificate.with_suffix(".csr")
        subject = "/CN=" + re.sub(r"([\\/+])", r"\\\1", common_name)
        _openssl("req", "-new", *_new_key(made.key), "-utf8", "-subj", subject, *alternatives, "-addext",
                 "basicConstraints=CA:FALSE", "-out", asked)
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


def served_with(certificate, clients_from=None, newest=ssl.TLSVersion.TLSv1_3):
    """What a server is with it; `clients_from`: the authority whose clients it serves, and no others."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.certificate, certificate.key)
    context.minimum_version = ssl.TLSVersion.TLSv1_2 if newest >= ssl.TLSVersion.TLSv1_2 else newest
    context.maximum_version = newest
    if clients_from:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(clients_from.certificate)
    return context


def _new_key(path):
    return ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", path)


def _host_in_der(name):
    """A GeneralNames with one dNSName, of up to 125 bytes. Source: RFC 5280, section 4.2.1.6."""
    one = bytes([0x82, len(name)]) + name
    return bytes([0x30, len(one)]) + one


def _is_address(name):
    return name.replace(".", "").isdigit() or ":" in name


def _openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)
