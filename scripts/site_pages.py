#!/usr/bin/env python3
"""The pages of one version in a site of the documents: site_pages.py FOLDER --version VERSION --work FOLDER

scripts/site.sh calls it and says what comes out. Pages are those of `nav` in packaging/site/mkdocs.yml and what these link to. They
lie as in the repository, so no link is rewritten. Pages that are not in `nav` are found by links only: neither by the search nor
in llms.txt.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
SETTINGS = REPOSITORY / "packaging/site"

FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r'\]\(([^)\s]+)\)|\b(?:src|srcset|href)="([^"]+)"')
NAV_ENTRY = re.compile(r"^( +)- (?:([^:\n]+): ?)?(\S+\.md)?$")
#: A page of lists alone.
SENTENCES = {"CHANGELOG.md": "What users notice, version by version."}
ITEM = re.compile(r"\d+\. ")


def navigation():
    """(section, page) of each page in `nav`, in order; the start page's section is None."""
    section = None
    for line in (SETTINGS / "mkdocs.yml").read_text().split("\nnav:\n", 1)[1].splitlines():
        indent, title, page = NAV_ENTRY.match(line).groups()
        if len(indent) == 2:
            section = None if page else title
        if page:
            yield section, page


def linked_from(page):
    """What a page refers to in the repository, as paths from its top."""
    for match in LINK.finditer(FENCED.sub("", (REPOSITORY / page).read_text())):
        target = (match[1] or match[2]).partition("#")[0]
        if target and not re.match(r"[a-z]+:", target):
            yield str((REPOSITORY / page).parent.joinpath(target).resolve().relative_to(REPOSITORY))


def reached(pages):
    """These pages, and every file that they lead to."""
    found, left = {}, list(pages)
    while left:
        name = left.pop()
        if name not in found:
            found[name] = True
            if name.endswith(".md"):
                left += linked_from(name)
    return sorted(found)


def indented(text):
    """With one space more below `1. `: a forge wants three, mkdocs four."""
    lines, in_list, fenced = [], False, False
    for line in text.split("\n"):
        fenced ^= line.startswith("```")
        if not fenced:
            if ITEM.match(line):
                in_list = True
            elif line and not line.startswith(" "):
                in_list = False
        lines.append(" " + line if in_list and line.startswith("   ") else line)
    return "\n".join(lines)


def stage(files, work):
    """A folder as mkdocs wants it."""
    shutil.copytree(SETTINGS, work, dirs_exist_ok=True)
    for name in files:
        staged = work / "docs" / name
        staged.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".md"):
            staged.write_text(indented((REPOSITORY / name).read_text()))
        else:
            shutil.copyfile(REPOSITORY / name, staged)
    shutil.copyfile(SETTINGS / "seriesgate.css", work / "docs/seriesgate.css")


def html_of(page):
    """Where mkdocs puts a page."""
    path = pathlib.PurePath(page)
    return str(path.with_name("index.html") if path.name == "README.md" else path.with_suffix(".html"))


def keep_found(made, pages):
    """Takes all but these pages out of the search."""
    index = made / "search/search_index.json"
    content = json.loads(index.read_text())
    wanted = {html_of(page) for page in pages}
    content["docs"] = [entry for entry in content["docs"] if entry["location"].partition("#")[0] in wanted]
    index.write_text(json.dumps(content, ensure_ascii=False))


def first_paragraph(page):
    """Of a page, without links and line ends; the first after its title that is a paragraph."""
    text = FENCED.sub("", (REPOSITORY / page).read_text())
    for paragraph in re.split(r"\n\s*\n", text):
        if not re.match(r"[#|<\-*]|\d+\.|\s", paragraph) and paragraph.strip():
            text = re.sub(r" \(\[[^\]]*\]\([^)]*\)\)", "", " ".join(paragraph.split()))
            return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    sys.exit(f"site: {page} has no paragraph to tell what it is about")


def first_sentence(page):
    if page in SENTENCES:
        return SENTENCES[page]
    return re.split(r"(?<=[.!?])\s", first_paragraph(page))[0].rstrip(":.") + "."


def title(page):
    return re.search(r"^# (.*)$", (REPOSITORY / page).read_text(), re.MULTILINE)[1].replace("`", "")


def llms():
    """What llms.txt says."""
    lines = [f"# {title('README.md')}", "", f"> {first_paragraph('README.md')}"]
    last = None
    for section, page in navigation():
        if section is None:
            continue
        if section != last:
            lines += ["", f"## {section}", ""]
            last = section
        lines.append(f"- [{title(page)}]({page}): {first_sentence(page)}")
    return "\n".join(lines) + "\n"


def age(version):
    """To sort by: 0.1.0~3 comes before 0.1.0, and that before 0.1.0+3."""
    numbers, sign, commits = re.match(r"([\d.]+)(?:([~+])(\d+))?", version).groups()
    return [int(number) for number in numbers.split(".")], {"~": -1, None: 0, "+": 1}[sign], int(commits or 0)


def list_versions(site):
    """Writes what is beside the versions: for the menu, for who comes without one, and for programs."""
    versions = sorted((folder.name for folder in site.iterdir() if (folder / "llms.txt").exists()), key=age, reverse=True)
    listed = [{"version": version, "title": re.sub(r"\.g\w+", "", version), "aliases": []} for version in versions]
    (site / "versions.json").write_text(json.dumps(listed, indent=1) + "\n")
    (site / "index.html").write_text(f"""<!doctype html>
<meta charset="utf-8">
<title>seriesgate</title>
<link rel="icon" href="{versions[0]}/assets/images/favicon.png">
<meta http-equiv="refresh" content="0; url={versions[0]}/index.html">
<a href="{versions[0]}/index.html">seriesgate {versions[0]}</a>
""")
    newest = (site / versions[0] / "llms.txt").read_text()
    (site / "llms.txt").write_text(newest.replace("](", f"]({versions[0]}/"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("site", type=pathlib.Path)
    parser.add_argument("--version", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    given = parser.parse_args()
    pages = [page for _, page in navigation()]
    files = reached(pages)
    stage(files, given.work)
    made = given.site.resolve() / given.version
    shutil.rmtree(made, ignore_errors=True)
    subprocess.run(["mkdocs", "build", "--strict", "--quiet", "--site-dir", made], cwd=given.work, check=True)
    for name in files:
        if name.endswith(".md"):
            shutil.copyfile(REPOSITORY / name, made / name)
    keep_found(made, pages)
    (made / "404.html").unlink()  # it links to the top of the host, where this folder need not be
    (made / "llms.txt").write_text(llms())
    list_versions(given.site)


if __name__ == "__main__":
    main()
