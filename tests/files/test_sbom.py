"""scripts/sbom.py: an SPDX document that names all that the binary is made of."""

import hashlib
import json
import os
import re
import subprocess

import pytest

from commands import output_of
from gate import BINARY, REPOSITORY

pytestmark = [pytest.mark.text, pytest.mark.timeout(120), pytest.mark.xdist_group("sbom")]

ID = re.compile(r"SPDXRef-[A-Za-z0-9.-]+")


def written():
    return output_of("/usr/bin/python3", REPOSITORY / "scripts/sbom.py", BINARY, env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})


@pytest.fixture(scope="module")
def sbom():
    return json.loads(written())


def sources(sbom):
    """{source package} of the libraries"""
    return {package["sourceInfo"].split()[4] for package in sbom["packages"] if "sourceInfo" in package}


def test_what_the_specification_wants_is_there(sbom):
    assert (sbom["spdxVersion"], sbom["dataLicense"], sbom["SPDXID"]) == ("SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT")
    assert sbom["creationInfo"]["created"] == "2023-11-14T22:13:20Z"
    assert all(re.match(r"(Tool|Organization|Person): ?\S", creator) for creator in sbom["creationInfo"]["creators"])
    digest = hashlib.sha256(BINARY.read_bytes()).hexdigest()
    assert sbom["documentNamespace"].endswith(digest) and "#" not in sbom["documentNamespace"]
    for package in sbom["packages"]:
        assert {"name", "versionInfo", "downloadLocation", "licenseConcluded", "licenseDeclared", "copyrightText"} <= package.keys()
        assert package["filesAnalyzed"] == ("packageVerificationCode" in package)
        for reference in package.get("externalRefs", []):
            assert reference["referenceCategory"] == "PACKAGE-MANAGER" and reference["referenceType"] == "purl"
            assert re.fullmatch(r"pkg:deb/[a-z]+/[^@ ]+@[^?+: ]+\?arch=\w+&distro=\S+", reference["referenceLocator"])
    file, = sbom["files"]
    assert {each["algorithm"]: each["checksumValue"] for each in file["checksums"]} == {
        "SHA1": hashlib.sha1(BINARY.read_bytes()).hexdigest(), "SHA256": digest}


def test_it_is_of_this_version_and_licence(sbom):
    own = next(package for package in sbom["packages"] if package["name"] == "seriesgate")
    version = output_of(BINARY, "--version").split()[1]
    assert (own["versionInfo"], own["licenseDeclared"], sbom["name"]) == (version, "Apache-2.0", f"seriesgate-{version}")


def test_every_part_has_a_relation_and_every_relation_its_parts(sbom):
    ids = [part["SPDXID"] for part in sbom["packages"] + sbom["files"]] + ["SPDXRef-DOCUMENT"]
    assert len(set(ids)) == len(ids) and all(map(ID.fullmatch, ids))
    relations = {(each["spdxElementId"], each["relationshipType"], each["relatedSpdxElement"]) for each in sbom["relationships"]}
    assert {one for one, _, _ in relations} | {other for _, _, other in relations} == set(ids)
    assert ("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-Package-seriesgate") in relations
    assert ("SPDXRef-Package-seriesgate", "CONTAINS", "SPDXRef-File-seriesgate") in relations


def test_it_names_what_the_loader_loads(sbom):
    loaded = re.findall(r"=> (/\S+)", output_of("ldd", BINARY))
    names = {package["name"] for package in sbom["packages"]}
    for path in loaded:
        candidates = [path, os.path.realpath(path), os.path.realpath(path).removeprefix("/usr")]
        found = subprocess.run(["dpkg-query", "--search", *candidates], capture_output=True, text=True).stdout
        assert found.split(":")[0] in names, path


def test_it_names_what_the_source_includes(sbom):
    """A header of Debian's that src/ includes is of a source package that the document has."""
    included = set()
    for path in (REPOSITORY / "src").rglob("*.[ch]pp"):
        included |= set(re.findall(r"^#include <(.+)>", path.read_text(), re.MULTILINE))
    headers = [f"/usr/include/{name}" for name in included if os.path.exists(f"/usr/include/{name}")]
    owners = subprocess.run(["dpkg-query", "--search", *headers], capture_output=True, text=True).stdout
    packages = {line.split(":")[0] for line in owners.splitlines()} - {"libc6-dev", "linux-libc-dev"}
    assert len(packages) >= 8
    assert set(output_of("dpkg-query", "--show", "--showformat", "${source:Package}\n", *packages).split()) <= sources(sbom)


def test_the_same_binary_gives_the_same_bytes(sbom):
    assert json.loads(written()) == sbom


def test_what_no_package_has_is_told(tmp_path):
    made = subprocess.run(["/usr/bin/python3", REPOSITORY / "scripts/sbom.py", BINARY, "--version=1", f"--root={tmp_path}"],
                          capture_output=True, text=True)
    assert made.returncode == 1 and made.stdout == ""
    assert re.fullmatch(r"sbom: .*os-release.*\n", made.stderr)
