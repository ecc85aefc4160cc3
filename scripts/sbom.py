#!/usr/bin/env python3
"""What a binary is made of, as SPDX 2.3 in JSON: sbom.py BINARY [--version VERSION] [--root DIR] [--build DIR]
[--beside PACKAGE...] [--libraries]

It names the binary with its checksums, and of each library that it links, directly or not, the Debian package with version, source
and licences; so too of what is compiled in. --root DIR is where the libraries and dpkg's records are, if not on this system.
--version is asked of the binary, unless it is given. --build is the build tree, needed when libraries are linked statically
(SERIESGATE_STATIC). --beside names packages that are delivered with it and not linked, as in an image. The document goes to standard
output, or with --libraries the paths of what it links and of its loader. Its time is SOURCE_DATE_EPOCH, if that is set: the same input then gives the same bytes. Needs
readelf (Debian: binutils) and the packages that the binary was built with.

Source of the format: https://spdx.github.io/spdx-spec/v2.3/
"""

import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

# What is compiled in and is no library: a header of each, as a package has it.
COMPILED_IN = ["boost/version.hpp", "CLI/CLI.hpp", "xxhash.h"]
NO_LICENCE = "NOASSERTION"
# Debian's short names of licences where they are not SPDX's own. https://spdx.org/licenses/
LICENCES = {"Expat": "MIT", "BSD-2-clause": "BSD-2-Clause", "BSD-3-clause": "BSD-3-Clause", "BSL-1.0": "BSL-1.0", "Boost-1.0": "BSL-1.0",
            "Apache-2.0": "Apache-2.0", "GPL-2": "GPL-2.0-only", "GPL-2+": "GPL-2.0-or-later", "GPL-3+": "GPL-3.0-or-later",
            "LGPL-2.1+": "LGPL-2.1-or-later", "LGPL-2+": "LGPL-2.0-or-later", "LGPL-3+": "LGPL-3.0-or-later", "Zlib": "Zlib",
            "zlib": "Zlib", "BSD-3-Clause": "BSD-3-Clause", "BSD-2-Clause": "BSD-2-Clause", "MIT": "MIT", "CC0-1.0": "CC0-1.0"}


def fail(why):
    sys.exit(f"sbom: {why}")


def ask(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout


class Debian:
    """The packages of a system under `root`, and its libraries."""

    def __init__(self, root):
        self._root = pathlib.Path(root)
        self._query = ("dpkg-query", f"--admindir={self._root / 'var/lib/dpkg'}")
        if not (self._root / "etc/os-release").exists():
            fail(f"no system under {root}: there is no etc/os-release")
        release = dict(line.split("=", 1) for line in (self._root / "etc/os-release").read_text().splitlines() if "=" in line)
        self.name = f"{release['ID']}-{release.get('VERSION_ID', 'rolling')}".replace('"', "")

    def owners(self, paths):
        """The packages of files, named as this system names them. /lib is a link to /usr/lib, and dpkg knows either name."""
        names = {str(path): self._names(pathlib.Path("/", path)) for path in paths}
        # Asked once: each question reads the lists of all packages.
        found = subprocess.run([*self._query, "--search", *dict.fromkeys(sum(names.values(), []))], capture_output=True, text=True)
        packages = {}
        for line in found.stdout.splitlines():
            owner, _, name = line.partition(": ")
            if not owner.startswith("diversion by "):
                packages.setdefault(name, owner.split(",")[0])
        for path, known_as in names.items():
            if not any(name in packages for name in known_as):
                fail(f"no package has {path}: this wants the packages that the binary was built with")
        return {next(packages[name] for name in known_as if name in packages) for known_as in names.values()}

    def _names(self, path):
        try:
            real = pathlib.Path("/", (self._root / path.relative_to("/")).resolve(strict=True).relative_to(self._root.resolve()))
        except (OSError, ValueError):
            real = path
        return [str(path), str(real), str(real).removeprefix("/usr"), "/usr" + str(path)]

    def facts(self, package):
        """{name, version, architecture, source, source_version}"""
        keys = {"name": "Package", "version": "Version", "architecture": "Architecture", "source": "source:Package",
                "source_version": "source:Version"}
        values = ask(*self._query, "--show", "--showformat", "\\n".join(f"${{{key}}}" for key in keys.values()), package)
        return dict(zip(keys, values.split("\n")))

    def licences(self, package):
        """Debian's short names of a package's licences, sorted; none if its copyright file is not in the form for machines."""
        try:
            text = (self._root / "usr/share/doc" / package / "copyright").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return []
        if not text.startswith("Format:"):
            return []
        # Those of the files; what stands alone is the text of one. Packaging under debian/ is in no binary.
        found = set()
        for stanza in re.split(r"\n\s*\n", text):
            files = re.search(r"^Files:((?:.*\n(?:[ \t].*\n)*))", stanza + "\n", re.MULTILINE)
            licence = re.search(r"^License:[ \t]*(.+)$", stanza, re.MULTILINE)
            if files and licence and not all(name.startswith("debian/") for name in files[1].split()):
                found.add(licence[1].strip())
        return sorted(found)

    def library(self, name, triplet):
        for folder in (f"lib/{triplet}", f"usr/lib/{triplet}", "lib64", "lib", "usr/lib"):
            if (self._root / folder / name).exists():
                return f"/{folder}/{name}"
        return fail(f"no {name} under {self._root}")

    def file(self, path):
        return self._root / path.lstrip("/")


def loader(binary):
    return re.search(r"interpreter: (.+)\]", ask("readelf", "--program-headers", "--wide", str(binary)))[1]


def needed(file):
    return re.findall(r"\(NEEDED\).*\[(.+)\]", ask("readelf", "--dynamic", "--wide", str(file)))


def libraries(binary, debian):
    """{name: path} of what the binary names and of what these name in turn"""
    machine = re.search(r"Machine:\s+(.+)", ask("readelf", "--file-header", str(binary)))[1]
    triplets = {"Advanced Micro Devices X86-64": "x86_64-linux-gnu", "AArch64": "aarch64-linux-gnu"}
    if machine not in triplets:
        fail(f"binaries for {machine} are not known here")
    paths, queue = {}, needed(binary)
    while queue:
        name = queue.pop()
        if name not in paths:
            paths[name] = debian.library(name, triplets[machine])
            queue += needed(debian.file(paths[name]))
    return paths


def linked(binary, debian):
    """({package} that the binary names, {package} that these name in turn)"""
    paths = libraries(binary, debian)
    direct = debian.owners(paths[name] for name in needed(binary))
    return direct, debian.owners(paths.values()) - direct


def archives(build):
    """The static libraries of the system that the build links into the binary."""
    text = (pathlib.Path(build) / "build.ninja").read_text()
    stanza = re.search(r"^build seriesgate: .*\n((?:  .*\n)*)", text, re.MULTILINE)
    return sorted(set(re.findall(r"(?<=[ =])/\S+\.a\b", stanza[1]))) if stanza else fail(f"{build} builds no seriesgate")


def spdx_id(kind, name):
    return f"SPDXRef-{kind}-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def debian_package(package, debian):
    facts, licences = debian.facts(package), debian.licences(package.split(":")[0])
    known = [LICENCES[licence] for licence in licences if licence in LICENCES]
    declared = " AND ".join(sorted(set(known))) if licences and len(known) == len(licences) else NO_LICENCE
    of = re.sub(r"[^a-z]", "", debian.name.split("-")[0]) or "debian"
    locator = f"pkg:deb/{of}/{facts['name']}@{facts['version'].replace('+', '%2B').replace(':', '%3A')}"
    return {
        "SPDXID": spdx_id("Package", facts["name"]), "name": facts["name"], "versionInfo": facts["version"],
        "supplier": "Organization: Debian", "downloadLocation": NO_LICENCE, "filesAnalyzed": False,
        "sourceInfo": f"built by Debian from {facts['source']} {facts['source_version']}",
        "licenseConcluded": NO_LICENCE, "licenseDeclared": declared, "copyrightText": NO_LICENCE,
        **({"licenseComments": "Debian names: " + "; ".join(licences)} if licences else {}),
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                          "referenceLocator": f"{locator}?arch={facts['architecture']}&distro={debian.name}"}]}


def own_parts(binary, version):
    """The package of the gate, and its only file."""
    content = binary.read_bytes()
    sums = {name: hashlib.new(name, content).hexdigest() for name in ("sha1", "sha256")}
    file = {"SPDXID": "SPDXRef-File-seriesgate", "fileName": "./usr/bin/seriesgate", "fileTypes": ["BINARY"],
            "checksums": [{"algorithm": name.upper(), "checksumValue": value} for name, value in sums.items()],
            "licenseConcluded": "Apache-2.0", "licenseInfoInFiles": [NO_LICENCE], "copyrightText": NO_LICENCE}
    package = {
        "SPDXID": "SPDXRef-Package-seriesgate", "name": "seriesgate", "versionInfo": version, "downloadLocation": NO_LICENCE,
        "primaryPackagePurpose": "APPLICATION", "filesAnalyzed": True, "licenseInfoFromFiles": [NO_LICENCE],
        # Over the checksums of all files, of which there is one.
        "packageVerificationCode": {"packageVerificationCodeValue": hashlib.sha1(sums["sha1"].encode()).hexdigest()},
        "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0", "copyrightText": NO_LICENCE}
    return package, file, sums["sha256"]


def document(binary, version, debian, build, beside):
    package, file, digest = own_parts(binary, version)
    direct, indirect = linked(binary, debian)
    inside = debian.owners(f"/usr/include/{header}" for header in COMPILED_IN)
    if build:
        inside |= debian.owners(archives(build))
        if not any(name.startswith("libfmt") for name in direct):  # see cmake/static_libraries.cmake
            inside |= debian.owners(["/usr/include/fmt/core.h"])
    elif not any(name.startswith("libstdc++") for name in direct):
        fail("libraries are linked statically: --build says which")
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", package["SPDXID"], None), (package["SPDXID"], "CONTAINS", file["SPDXID"], None)]
    packages = {}
    for names, relation, why in ((direct, "DYNAMIC_LINK", None), (indirect, "DEPENDS_ON", "linked by what it links"),
                                 (inside, "STATIC_LINK", "compiled in"),
                                 (set(beside), "DEPENDS_ON", "delivered beside it")):
        for name in sorted(names):
            packages[name] = debian_package(name, debian)
            relations.append((file["SPDXID"], relation, packages[name]["SPDXID"], why))
    created = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH") or datetime.datetime.now().timestamp()),
                                              datetime.timezone.utc)
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"seriesgate-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/seriesgate-{version}-{digest}",
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": [f"Tool: seriesgate-sbom-{version}"]},
        "packages": [package, *(packages[name] for name in sorted(packages))], "files": [file],
        "relationships": [{"spdxElementId": one, "relationshipType": relation, "relatedSpdxElement": other,
                           **({"comment": why} if why else {})} for one, relation, other, why in relations]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("--version", default="")
    parser.add_argument("--root", default="/")
    parser.add_argument("--build", default="")
    parser.add_argument("--libraries", action="store_true")
    parser.add_argument("--beside", nargs="+", default=[], metavar="PACKAGE")
    arguments = parser.parse_args()
    if arguments.libraries:
        print(*sorted({loader(arguments.binary), *libraries(arguments.binary, Debian(arguments.root)).values()}), sep="\n")
        return
    version = arguments.version or ask(str(arguments.binary.resolve()), "--version").split()[-1]
    json.dump(document(arguments.binary, version, Debian(arguments.root), arguments.build, arguments.beside), sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
