"""Files with passwords and tokens for stores that are no good: what the command line has to say of them."""

from gate import run


def test_files_that_are_no_good_are_told_before_the_start(tmp_path):
    file = tmp_path / "gate.yaml"
    missing = tmp_path / "missing"
    (tmp_path / "empty").write_text("\n")
    file.write_text(f"""upstream:
  url: http://127.0.0.1:1/w
  basicAuth: {{username: gate, passwordFile: {missing}}}
  replicateTo:
    - {{url: 'http://127.0.0.1:1/w', bearerTokenFile: {tmp_path / 'empty'}}}
    - {{url: 'https://127.0.0.1:2/w', tls: {{caFile: {missing}}}}}
""")
    lines = [f"{file}: upstream.basicAuth.passwordFile: cannot read {missing}: No such file or directory",
             f"{file}: upstream.replicateTo[0].bearerTokenFile: {tmp_path / 'empty'} is empty",
             f"{file}: upstream.replicateTo[1].tls: cannot read {missing}: No such file or directory"]
    for flags in ([], ["--check-config"]):
        result = run(f"--config.file={file}", *flags)
        assert (result.returncode, result.stdout, result.stderr.splitlines()) == (1, "", lines)
