"""seriesgate(1), of --help and what docs/operation.md says, and seriesgate.yaml(5), which is docs/configuration.md."""

import pathlib
import re

import command_line
import roff

SEE_DOCS = [".PP", roff.inline("`/usr/share/doc/seriesgate/docs` has all documents, `examples` beside it a file with every key.")]
DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"


def section(text, title):
    """What stands below a heading, up to the next one of its level."""
    found = re.search(rf"^(##+) {re.escape(title)}\n(.*?)(?=^##? |\Z)", text, re.MULTILINE | re.DOTALL)
    if not found:
        raise ValueError(f"there is no section {title!r}")
    return found[2]


def paragraph(text, beginning):
    """The paragraph or table that begins so."""
    found = [block for block in re.split(r"\n{2,}", text.strip()) if block.startswith(beginning)]
    if len(found) != 1:
        raise ValueError(f"{len(found)} paragraphs begin with {beginning!r}")
    return found[0]


def options(flags):
    out = []
    for flag in flags:
        names = ", ".join(f"\\fB{roff.escape(name)}\\fP" for name in flag.names)
        out += [".TP", names + (f" \\fI{roff.escape(flag.value)}\\fP" if flag.value else ""), roff.escape(flag.help) or "\\&"]
    return out


def gate(binary):
    """seriesgate(1)."""
    program, top, suggest = (command_line.of(binary, *name) for name in ((), ("top",), ("suggest",)))
    operation = (DOCS / "operation.md").read_text()
    configuration = (DOCS / "configuration.md").read_text()
    life, state = section(operation, "Health, start and stop"), section(operation, "State")
    terminal, mistakes = section(operation, "In a terminal"), section(operation, "Mistakes at the start")
    body = [
        ".SH SYNOPSIS", ".B seriesgate", "[\\fIoptions\\fP]", ".br", ".B seriesgate top", "[\\fIoptions\\fP]",
        ".br", ".B seriesgate suggest", "[\\fIoptions\\fP]",
        ".SH DESCRIPTION", roff.escape(program.purpose),
        *roff.from_markdown(paragraph(configuration, "seriesgate is configured by")),
        ".PP", *(roff.escape(line) for line in program.footer.splitlines()),
        ".SH OPTIONS", *options(program.flags),
        ".SH SERIESGATE TOP", roff.escape(top.purpose), *options(top.flags),
        ".PP", *(roff.escape(line) for line in top.footer.splitlines()),
        *roff.from_markdown(paragraph(terminal, "| key |")),
        ".SH SERIESGATE SUGGEST", roff.escape(suggest.purpose), *options(suggest.flags),
        ".PP", *(roff.escape(line) for line in suggest.footer.splitlines()),
        ".SH SIGNALS", *roff.from_markdown(paragraph(life, "On SIGTERM")),
        *roff.from_markdown(paragraph(section(operation, "Reload"), "SIGHUP")),
        ".SH EXIT STATUS", *roff.from_markdown(paragraph(mistakes, "| exit status |")),
        ".SH FILES", ".TP", ".I /etc/seriesgate/seriesgate.yaml",
        "the configuration of the service, see \\fBseriesgate.yaml\\fP(5)", ".TP", ".I /var/lib/seriesgate",
        "its \\fBstate.dir\\fP:", ".RS", *roff.from_markdown(paragraph(state, "| file |")), ".RE",
        ".SH SEE ALSO", ".BR seriesgate.yaml (5)", *SEE_DOCS,
    ]
    return roff.page("seriesgate", 1, "cardinality gate for Prometheus remote write", command_line.version(binary),
                     roff.tidy(body))


def configuration(binary):
    """seriesgate.yaml(5). The flags are in seriesgate(1)."""
    text = (DOCS / "configuration.md").read_text()
    text = text.replace("## Flags\n" + section(text, "Flags"), "")
    text = re.sub(r"\A# .*\n", "## Description\n", text)
    body = [*roff.from_markdown(text),
            ".SH FILES", ".TP", ".I /etc/seriesgate/seriesgate.yaml", "the configuration of the service",
            ".SH SEE ALSO", ".BR seriesgate (1)", *SEE_DOCS]
    return roff.page("seriesgate.yaml", 5, "configuration of seriesgate", command_line.version(binary), body)
