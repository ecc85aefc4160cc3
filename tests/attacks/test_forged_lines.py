"""Names that would like to be lines of the log, and that a web configuration does not take.
Others: tests/scenes/test_forged_lines.py."""

import json

import pytest

from forged import NO_NAMES, assert_one_line, assert_sound, form, start  # noqa: F401 (fixtures)
from gate import run
from waiting import eventually
from web_files import BOB, users

pytestmark = pytest.mark.one_thread


def test_what_is_no_name_is_a_mistake_of_one_line(start, form, tmp_path, upstream):  # noqa: F811
    gate = start(users(BOB))
    for way in ("basic_auth_users: {{{}: '" + BOB[2] + "'}}", "bearer_tokens: [{{name: {}, token_file: token}}]",
                "ingestion_users: [{}]", "tenants: {{{}: shop}}"):
        for text in NO_NAMES.values():
            (tmp_path / "bad.yml").write_text(way.format(json.dumps(text)) + "\n")
            done = run("--check-config", f"--upstream.url={upstream.url}", f"--web.config.file={tmp_path}/bad.yml")
            assert done.returncode == 1, (way, text)
            assert_one_line(done.stdout + done.stderr)
    (tmp_path / "web.yml").write_text(f"ingestion_users: {json.dumps(list(NO_NAMES.values()))}\n")
    eventually(lambda: gate.said("web configuration not reread"), "it is told of", 30)
    events = assert_sound(gate, form)
    assert [event["msg"] for event in events].count("web configuration not reread") >= 1
