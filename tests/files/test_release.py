"""Which version a source says it is, and what scripts/release.sh makes of it, short of building it."""

import hashlib
import os
import re
import shutil
import subprocess

import pytest

from commands import output_of
from gate import REPOSITORY

pytestmark = [pytest.mark.text, pytest.mark.timeout(200)]

IDENTITY = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER")
            for key, value in (("NAME", "somebody"), ("EMAIL", "somebody@example.org"), ("DATE", "2026-01-02T03:04:05Z"))}
ENVIRONMENT = {**{key: value for key, value in os.environ.items() if not key.startswith("GIT_")}, **IDENTITY,
               "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}


def git(tree, *arguments):
    return output_of("git", "-C", tree, *arguments, env=ENVIRONMENT).strip()


def commit(tree):
    git(tree, "add", "--all")
    git(tree, "commit", "--quiet", "--allow-empty", "--message=a change")


def version_of(tree, **given):
    """(version, revision) by cmake/source_version.cmake"""
    defined = [f"-D{key}={value}" for key, value in {"SOURCE": tree, "PROJECT_VERSION": "0.1.0", **given}.items()]
    told = subprocess.run(["cmake", *defined, "-P", REPOSITORY / "cmake/source_version.cmake"], check=True, capture_output=True,
                          text=True, env=ENVIRONMENT)
    return tuple(told.stdout.rstrip("\n").split(" "))


@pytest.fixture
def small(tmp_path):
    """A repository with one commit."""
    tree = tmp_path / "small"
    tree.mkdir()
    git(tree, "init", "--quiet")
    (tree / "file").write_text("one\n")
    commit(tree)
    return tree


def test_versions_follow_the_commits_in_debians_order(small):
    seen = []

    def see(pattern):
        head = git(small, "rev-parse", "HEAD")
        version, revision = version_of(small)
        assert revision == head
        assert re.fullmatch(pattern.replace("HEAD", head[:12]), version), version
        seen.append(version)

    see(r"0\.1\.0~1\.gHEAD")
    commit(small)
    see(r"0\.1\.0~2\.gHEAD")
    git(small, "tag", "v0.1.0")
    git(small, "tag", "nightly")  # is no version
    see(r"0\.1\.0")
    (small / "file").write_text("two\n")
    see(r"0\.1\.0\+0\.gHEAD\.dirty")
    commit(small)
    see(r"0\.1\.0\+1\.gHEAD")
    (small / "file").write_text("three\n")
    see(r"0\.1\.0\+1\.gHEAD\.dirty")
    git(small, "tag", "--annotate", "--message=next", "v0.2.0", "HEAD")
    git(small, "checkout", "--quiet", "file")
    see(r"0\.2\.0")
    for before, after in zip(seen, seen[1:]):
        assert subprocess.run(["dpkg", "--compare-versions", before, "lt", after]).returncode == 0, (before, after)


def test_without_git_a_file_tells_it_and_else_the_project(small, tmp_path):
    inside = small / "unpacked"  # in somebody else's repository
    inside.mkdir()
    assert version_of(inside) == ("0.1.0", "")
    (inside / "VERSION").write_text("0.3.0 0123abcd\n")
    assert version_of(inside) == ("0.3.0", "0123abcd")
    (inside / "VERSION").write_text("0.4.0\n")
    assert version_of(inside) == ("0.4.0", "")
    assert version_of(inside, VERSION="0.4.0-1", REVISION="abc") == ("0.4.0-1", "abc")


@pytest.mark.parametrize("version", ['1"', "1 2", "1;2", "-1", "1/2"])
def test_what_is_no_version_is_an_error(tmp_path, version):
    with pytest.raises(subprocess.CalledProcessError) as raised:
        version_of(tmp_path, VERSION=version)
    assert "no version and revision" in raised.value.stderr


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """This source at the tag of its version, committed in a repository of its own."""
    tree = tmp_path_factory.mktemp("source") / "tree"
    shutil.copytree(REPOSITORY, tree, symlinks=True,
                    ignore=lambda folder, names: {name for name in names if name in (".git", "__pycache__") or
                                                  (folder == str(REPOSITORY) and name in ("build", "VERSION"))})
    changes = tree / "CHANGELOG.md"
    changes.write_text(changes.read_text().replace("## 0.1.0 (unreleased)", "## 0.1.0 (2026-01-02)"))
    project = tree / "packaging/project.env"
    project.write_text(project.read_text().replace("seriesgate.example", "somebody.org"))
    git(tree, "init", "--quiet")
    commit(tree)
    git(tree, "tag", "v0.1.0")
    return tree


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    """Flags: a private key that signs. Its public half is beside it."""
    private = tmp_path_factory.mktemp("key") / "private.pem"
    output_of("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", private)
    output_of("openssl", "pkey", "-in", private, "-pubout", "-out", private.with_name("public.pem"))
    return "--sign", private


def release(tree, *flags, umask="022", **environment):
    return subprocess.run(["sh", "-c", 'umask "$1"; shift; exec "$@"', "sh", umask, tree / "scripts/release.sh", "--source-only", *flags],
                          capture_output=True, text=True, env={**ENVIRONMENT, **environment})


def test_the_source_archive_is_the_same_bytes_wherever_it_is_made(source, key, tmp_path):
    made = release(source, *key)
    assert made.returncode == 0, made.stderr
    elsewhere = tmp_path / "a clone"
    git(tmp_path, "clone", "--quiet", "--no-local", source, elsewhere)
    git(elsewhere, "config", "tar.umask", "user")
    again = release(elsewhere, *key, umask="077", TZ="Pacific/Kiritimati", LC_ALL="C.UTF-8")
    assert again.returncode == 0, again.stderr
    first, second = ({path.name: path.read_bytes() for path in (tree / "build/release-artifacts").iterdir()}
                     for tree in (source, elsewhere))
    for signed in (first, second):
        (tmp_path / "sums").write_bytes(signed["SHA256SUMS"])
        (tmp_path / "sums.sig").write_bytes(signed.pop("SHA256SUMS.sig"))
        output_of("openssl", "dgst", "-sha256", "-verify", key[1].with_name("public.pem"), "-signature", tmp_path / "sums.sig",
                  tmp_path / "sums")
    assert first == second
    files = ["release-notes.md", "seriesgate-0.1.0-chart.tgz", "seriesgate-0.1.0.tar.gz"]
    assert first.keys() == {*files, "SHA256SUMS"}
    assert first["SHA256SUMS"].decode().splitlines() == [
        f"{hashlib.sha256(first[name]).hexdigest()}  {name}" for name in files]
    notes = first["release-notes.md"].decode()
    assert notes.startswith("- ") and "## " not in notes and notes.strip() in (source / "CHANGELOG.md").read_text()


def test_the_archive_builds_without_git_and_without_the_packages_of_tests(source, key, tmp_path):
    assert release(source, *key).returncode == 0
    output_of("tar", "-C", tmp_path, "-xzf", source / "build/release-artifacts/seriesgate-0.1.0.tar.gz")
    tree = tmp_path / "seriesgate-0.1.0"
    assert (tree / "VERSION").read_text() == f"0.1.0 {git(source, 'rev-parse', 'HEAD')}\n"
    build = tmp_path / "build"
    configured = output_of("cmake", "-G", "Ninja", "-S", tree, "-B", build, "-DCMAKE_DISABLE_FIND_PACKAGE_Catch2=ON", timeout=200)
    assert "SERIESGATE_TESTS: OFF, there is no Catch2" in configured
    assert "CMAKE_BUILD_TYPE:STRING=RelWithDebInfo" in (build / "CMakeCache.txt").read_text()
    targets = output_of("ninja", "-C", build, "-t", "targets", "all")
    assert re.search(r"^seriesgate: ", targets, re.MULTILINE) and "_tests:" not in targets and "_bench:" not in targets

    output_of("ninja", "-C", build, "seriesgate_source_version")
    assert 'return "0.1.0";' in (build / "config/version.cpp").read_text()
    wanted = subprocess.run(["cmake", build, "-DSERIESGATE_TESTS=ON"], capture_output=True, text=True)
    assert wanted.returncode != 0 and "Catch2" in wanted.stderr  # who says ON wants them


def changed(tree, name, old, new):
    path = tree / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    commit(tree)


@pytest.fixture
def clone(source, tmp_path):
    tree = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", source, tree)
    return tree


@pytest.mark.parametrize("spoil, why", [
    (lambda tree: (tree / "README.md").write_text("other\n"), r"the tree is not clean: git status"),
    (lambda tree: (tree / "left").write_text("over\n"), r"the tree is not clean: git status"),
    (commit, r"no tag is at this commit, which is 0\.1\.0\+1\.g[0-9a-f]{12}"),
    (lambda tree: (git(tree, "tag", "--delete", "v0.1.0"), git(tree, "tag", "v0.2.0")),
     r"the tag is v0\.2\.0, but CMakeLists\.txt says 0\.1\.0"),
    (lambda tree: (changed(tree, "CHANGELOG.md", "(2026-01-02)", "(unreleased)"), git(tree, "tag", "--force", "v0.1.0")),
     r'CHANGELOG\.md has no section "## 0\.1\.0 \(YYYY-MM-DD\)"'),
    (lambda tree: (changed(tree, "CHANGELOG.md", "# Changelog\n", "# Changelog\n\n## 0.1.0 (2026-01-03)\n"),
                   git(tree, "tag", "--force", "v0.1.0")), r"the section of CHANGELOG\.md says nothing"),
    (lambda tree: (changed(tree, "packaging/project.env", "git.somebody.org", "git.seriesgate.example"),
                   git(tree, "tag", "--force", "v0.1.0")),
     r"packaging/project\.env has a placeholder: VCS_BROWSER=https://git\.seriesgate\.example/seriesgate"),
])
def test_what_is_no_release_is_refused(clone, key, spoil, why):
    spoil(clone)
    made = release(clone, *key)
    assert made.returncode == 1 and re.fullmatch(f"release: {why}\n", made.stderr), made.stderr
    assert not (clone / "build/release-artifacts").exists()


def test_a_release_is_signed_by_a_key_from_elsewhere(clone, key, tmp_path):
    def refused(*flags):
        made = release(clone, *flags)
        assert made.returncode == 1 and not (clone / "build/release-artifacts").exists()
        return made.stderr.splitlines()[-1]

    assert refused() == "release: nothing would sign it: --sign KEY"
    assert refused("--sign", tmp_path / "none") == f"release: this key cannot sign: {tmp_path}/none"
    inside = clone / "build/key.pem"
    inside.parent.mkdir(exist_ok=True)
    shutil.copy(key[1], inside)
    assert refused("--sign", inside) == f"release: the key is in the source tree: {inside}"


def test_a_snapshot_needs_no_tag_and_tells_its_distance(clone):
    changed(clone, "CHANGELOG.md", "# Changelog\n", "# Changelog\n\n## 0.2.0 (unreleased)\n\n- Something new.\n")
    made = release(clone, "--snapshot")
    assert made.returncode == 0, made.stderr
    artifacts = clone / "build/release-artifacts"
    assert (artifacts / "release-notes.md").read_text() == "- Something new.\n"
    assert (artifacts / f"seriesgate-0.1.0+1.g{git(clone, 'rev-parse', 'HEAD')[:12]}.tar.gz").exists()
