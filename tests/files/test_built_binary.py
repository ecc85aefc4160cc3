"""What the compiler and `cmake --install` have made of the source: the same bytes anywhere, hardened, with all that a packager wants."""

import re

import pytest

from commands import output_of
from gate import BINARY, REPOSITORY

pytestmark = pytest.mark.text  # sanitizers are compiled in otherwise


def readelf(*flags):
    return output_of("readelf", "--wide", *flags, BINARY)


def test_no_path_of_a_tree_is_in_it():
    """Neither of this one nor of those in which ccache has found its objects. scripts/test-reproducible.sh compares the whole."""
    content = BINARY.read_bytes()
    for tree in (REPOSITORY, BINARY.parent):
        assert str(tree).encode() not in content
    units = readelf("--debug-dump=info", "--dwarf-depth=1")
    assert set(re.findall(r"DW_AT_comp_dir\s.*: (.*)", units)) == {"."}
    names = re.findall(r"DW_AT_name\s.*: (.*)", units)
    assert len(names) > 15 and not any(name.startswith(("/", "..")) for name in names)


def test_it_is_hardened():
    assert re.search(r"Type:\s+DYN \(Position-Independent", readelf("--file-header"))
    segments = readelf("--program-headers")
    assert "GNU_RELRO" in segments
    assert re.search(r"GNU_STACK.* RW ", segments)
    dynamic = readelf("--dynamic")
    assert re.search(r"FLAGS_1.*\bNOW\b.*\bPIE\b", dynamic)
    assert not re.search(r"R(UN)?PATH|TEXTREL", dynamic)
    symbols = readelf("--dyn-syms")
    assert "__stack_chk_fail" in symbols
    assert re.search(r"__\w+_chk@", symbols.replace("__stack_chk", ""))  # _FORTIFY_SOURCE
    assert "Build ID" in readelf("--notes")


def installed_by(folder, component):
    """The files that a component installs, by their paths below `folder`."""
    output_of("cmake", "--install", BINARY.parent, "--component", component, env={"PATH": "/usr/bin:/bin", "DESTDIR": str(folder)})
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_all_of_it_is_installed_and_a_configuration_is_kept(tmp_path):
    found = installed_by(tmp_path, "runtime")
    manuals = {f"usr/local/share/{name}" for name in (
        "man/man1/seriesgate.1", "man/man5/seriesgate.yaml.5", "bash-completion/completions/seriesgate",
        "zsh/site-functions/_seriesgate", "fish/vendor_completions.d/seriesgate.fish")}
    if not (BINARY.parent / "generated").exists():
        manuals = set()  # the binary alone has been built
    assert {path for path in found if "systemd" not in path} == manuals | {
        "usr/local/bin/seriesgate", "usr/local/etc/seriesgate/seriesgate.yaml", "usr/local/share/doc/seriesgate/LICENSE"}
    units = {path.name for folder in ("service", "socket") for path in (REPOSITORY / "deploy/systemd").glob(f"*.{folder}")}
    assert {path for path in found if "systemd" in path} == {f"usr/local/lib/systemd/system/{unit}" for unit in units}
    for unit in (tmp_path / "usr/local/lib/systemd/system").glob("*"):
        assert not re.search(r"(?<!/local)/(usr/bin/seriesgate|etc/seriesgate)\b", unit.read_text().replace("/usr/local", "/local"))

    assert output_of(tmp_path / "usr/local/bin/seriesgate", "--version") == output_of(BINARY, "--version")
    own = tmp_path / "usr/local/etc/seriesgate/seriesgate.yaml"
    assert "dir: /var/lib/seriesgate\n" in own.read_text() and " /etc/seriesgate" not in own.read_text()
    own.write_text("upstream: {url: 'discard:'}\n")
    installed_by(tmp_path, "runtime")
    assert own.read_text() == "upstream: {url: 'discard:'}\n"


def test_documents_are_a_component_of_their_own(tmp_path):
    found = installed_by(tmp_path, "doc")
    share = "usr/local/share/doc/seriesgate"
    assert {f"{share}/{name}" for name in ("README.md", "CHANGELOG.md")} <= found
    for folder, below in (("docs", share), ("config", f"{share}/examples"), ("monitoring", f"{share}/examples")):
        for path in (REPOSITORY / folder).rglob("*"):
            assert path.is_dir() or f"{below}/{path.relative_to(REPOSITORY)}" in found
