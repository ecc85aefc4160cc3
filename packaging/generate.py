"""Writes what a package has besides the binary: generate.py BINARY FOLDER

man/seriesgate.1, man/seriesgate.yaml.5, bash/seriesgate, zsh/_seriesgate and fish/seriesgate.fish in FOLDER, under the names
that the shells look for. Needs nothing but Python.
"""

import pathlib
import sys

import completions
import man_pages

SHELL_FILES = {"bash": "seriesgate", "zsh": "_seriesgate", "fish": "seriesgate.fish"}


def generate(binary, folder):
    files = {"man/seriesgate.1": man_pages.gate(binary), "man/seriesgate.yaml.5": man_pages.configuration(binary)}
    files |= {f"{shell}/{SHELL_FILES[shell]}": text for shell, text in completions.of(binary).items()}
    for name, text in files.items():
        file = pathlib.Path(folder) / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__.splitlines()[0])
    generate(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2])
