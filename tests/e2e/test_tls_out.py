"""Stores behind TLS: what depends on the system, its authorities and its names. All else is in ../scenes/test_tls_out.py."""

import pytest

from certificates import Authority, served_with
from stores_behind_tls import BODY, config, failure, start_store  # noqa: F401 (a fixture)


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("tls"))


def test_the_systems_authorities_do_not_know_ours(start_gate, start_store, authority):
    store = start_store(served_with(authority.issue("localhost", "127.0.0.1")))
    gate = start_gate(f"--upstream.url={store.url}")
    assert "certificate" in failure(gate, store)


def test_a_name_in_the_url_is_asked_for_and_looked_for(start_gate, start_store, authority):
    asked = []
    context = served_with(authority.issue("localhost"))
    context.sni_callback = lambda _, name, __: asked.append(name)
    store = start_store(context)
    gate = start_gate(config=config(store, f"caFile: {authority.certificate}",
                                    url=f"https://localhost:{store.port}/api/v1/write"))
    assert gate.send(BODY).status == 204
    assert asked == ["localhost"]
