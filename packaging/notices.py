"""What a binary is made of besides our own code, with the licences that want to be passed on: notices.py [--static] BINARY

Prints to standard output. Libraries that the binary links are packages of their own, and Debian has their licences beside them:
they are named with their version. Of libraries that are compiled in, for they are headers, or with --static all but the C
library, the licence itself is printed, as the package they came from has it. Needs dpkg, readelf, and the packages that the binary was built with.
"""

import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "scripts"))
import sbom  # noqa: E402

# Packages whose headers are compiled into the binary. Boost stands apart: the licence that nearly all of it has, and what we use.
COMPILED_IN = ["libcli11-dev", "libfmt-dev", "libhiredis-dev", "libre2-dev", "libsnappy-dev", "libxxhash-dev", "libyaml-cpp-dev"]
# And those that a binary built with SERIESGATE_STATIC has in it.
STATIC = ["libcrypt-dev", "libssl-dev", "libzstd-dev"]
STANDARD_LIBRARY = r"libstdc\+\+-\d+-dev"
BOOST = r"libboost1\.\d+-dev"
DOC = pathlib.Path("/usr/share/doc")


def ask(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def versions():
    """Version of each installed package, by name."""
    shown = ask("dpkg-query", "--show", "--showformat", "${Package}\t${Version}\t${db:Status-Status}\n")
    return {name: version for name, version, status in (line.split("\t") for line in shown.splitlines()) if status == "installed"}


def linked(binary):
    direct, indirect = sbom.linked(binary, sbom.Debian("/"))
    return sorted(package.split(":")[0] for package in direct | indirect)


def boost_licence(text):
    """The stanza of the Boost Software License, without the marks of a Debian copyright file."""
    found = re.search(r"^License: BSL-1\.0\n((?: .*\n)+)", text, re.MULTILINE)
    return re.sub(r"^ \.?", "", found[1], flags=re.MULTILINE)


def rule(title):
    return f"\n{'-' * 100}\n{title}\n{'-' * 100}\n"


def notices(binary, is_static=False):
    installed = versions()
    parts = ["seriesgate itself is under the Apache License 2.0.\n\n",
             "Linked, each with its licence in /usr/share/doc/PACKAGE/copyright:\n\n"]
    parts += [f"  {package} {installed[package]}\n" for package in linked(binary)]
    parts.append("\nCompiled in (headers), with their copyright files:\n")
    boost = next(package for package in installed if re.fullmatch(BOOST, package))
    parts.append(rule(f"{boost} {installed[boost]}: Asio, Beast, System and others"))
    parts.append(boost_licence((DOC / boost / "copyright").read_text(encoding="utf-8")))
    compiled_in = [*COMPILED_IN, *(["libabsl-dev"] if "libabsl-dev" in installed else [])]  # RE2 of Debian 13 is built on Abseil
    if is_static:
        compiled_in += [*STATIC, *(package for package in installed if re.fullmatch(STANDARD_LIBRARY, package))]
    for package in compiled_in:
        parts.append(rule(f"{package} {installed[package]}"))
        parts.append((DOC / package / "copyright").read_text(encoding="utf-8"))
    return "".join(parts)


if __name__ == "__main__":
    static = sys.argv[1:2] == ["--static"]
    if len(sys.argv) != 2 + static:
        sys.exit(__doc__.splitlines()[0])
    sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(notices(sys.argv[-1], static))
