"""A gate that speaks TLS, and senders that do."""

import json
import ssl
import subprocess

import client
import exposition
import recorded
from certificates import Authority
from client import WRITE


class Secured:
    """An authority, a gate's certificate in files of its own, and the web configuration that names them.

    Making certificates takes a while: tests may share an authority, and the first certificate that is installed.
    """

    def __init__(self, folder, authority=None, issued=None):
        self.authority = authority or Authority(folder)
        self.folder = folder
        self.certificate, self.key = folder / "gate.pem", folder / "gate.key"
        self.install(issued or self.authority.issue("127.0.0.1", "localhost"))

    def install(self, issued):
        """Puts another certificate in place, as a tool that renews them does: the key first."""
        for made, where in ((issued.key, self.key), (issued.certificate, self.certificate)):
            fresh = where.with_suffix(".new")
            fresh.write_bytes(made.read_bytes())
            fresh.rename(where)

    def web(self, further="", **keys):
        """The flag that names a web configuration with these keys of tls_server_config, and further sections."""
        keys = {"cert_file": str(self.certificate), "key_file": str(self.key), **keys}
        file = self.folder / "web.yml"
        file.write_text(f"tls_server_config: {json.dumps(keys)}\n{further}")
        return f"--web.config.file={file}"

    def trusting(self, client=None, **how):
        """What a sender believes, and shows."""
        context = ssl.create_default_context(cafile=str(self.authority.certificate))
        for name, value in how.items():
            setattr(context, name, value)
        if client:
            context.load_cert_chain(client.certificate, client.key)
        return context


def connection(address, context, timeout=20):
    return client.Connection(address, timeout, context)


def ask(address, context, path="/-/healthy"):
    """@return the status of a GET on a connection of its own"""
    with client.Client(address, 20, context) as made:
        return made.get(path).status


def write(made, body):
    """One write on an open connection. @return its status"""
    made.request("POST", WRITE, body, dict(recorded.HEADERS))
    answer = made.getresponse()
    answer.read()
    return answer.status


def metrics(gate, context):
    """The gate's /metrics, by TLS."""
    with client.Client(gate.admin_address, 20, context) as made:
        return exposition.parse(made.get("/metrics").body)


def s_client(address, *arguments, text=b""):
    """@return the status of openssl s_client, and what it says until it has sent the text"""
    done = subprocess.run(["openssl", "s_client", "-connect", f"{address[0]}:{address[1]}", *map(str, arguments)],
                          input=text, capture_output=True, timeout=20)
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")
