"""The Markdown of docs/ as the source of a man page: headings, paragraphs, lists, tables, fenced and indented code, and within
a line code, bold, emphasis and links. What docs/ does not use is not known here.

The macros are those of man(7). A table becomes a list of its rows, for rows with sentences in them fit no terminal.
"""

import re

LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
INLINE = re.compile(r"`([^`]+)`|\*\*([^*]+)\*\*|(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])")


def escape(text):
    """Plain text, safe anywhere in a line and at its beginning."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("~", "\\(ti").replace("^", "\\(ha").replace("`", "\\(ga")
    return re.sub(r"^([.'])", r"\\&\1", text.replace("'", "\\(aq"))


def inline(text):
    """One run of Markdown text: code and bold in bold, emphasis in italics, a link as its text."""
    text = LINK.sub(r"\1", text)
    parts, at = [], 0
    for found in INLINE.finditer(text):
        code, bold, emphasis = found.groups()
        parts.append(escape(text[at:found.start()]))
        if code is not None:
            parts.append(f"\\fB{escape(code)}\\fP")
        elif bold is not None:
            parts.append(f"\\fB{inline(bold)}\\fP".replace("\\fB\\fB", "\\fB").replace("\\fP\\fP", "\\fP"))
        else:
            parts.append(f"\\fI{escape(emphasis)}\\fP")
        at = found.end()
    parts.append(escape(text[at:]))
    return re.sub(r"^([.'])", r"\\&\1", "".join(parts).strip())


def cells(row):
    """The cells of a line of a table. A bar behind a backslash is text."""
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row.strip())[1:-1]]


def table(lines):
    """Each row as an item: its first cell is what it is about; of the others each says its heading, if there are several."""
    heads = cells(lines[0])
    out = []
    for row in map(cells, lines[2:]):
        out += [".TP", inline(row[0]) or "\\&"]
        rest = [(head, cell) for head, cell in zip(heads[1:], row[1:]) if cell]
        named = len(heads) > 2
        out.append("; ".join(f"{escape(head)}: {inline(cell)}" if named else inline(cell) for head, cell in rest) or "\\&")
    return out + [".PP"]


def code(lines):
    return [".PP", ".RS 4", ".nf", *(escape(line) for line in lines), ".fi", ".RE", ".PP"]


def heading(level, text):
    return [f".{'SH' if level <= 2 else 'SS'} {inline(text.upper() if level <= 2 else text)}"]


def listing(items):
    out = []
    for mark, text in items:
        out += [f".IP {mark} 4", inline(text)]
    return out + [".PP"]


class Reader:
    """The lines of a page, taken block by block."""

    def __init__(self, text):
        self.lines = [line for line in text.splitlines() if not line.startswith("<!--")]
        self.at = 0

    def peek(self):
        return self.lines[self.at] if self.at < len(self.lines) else None

    def take_while(self, wanted):
        taken = []
        while self.peek() is not None and wanted(self.peek()):
            taken.append(self.lines[self.at])
            self.at += 1
        return taken

    def items(self):
        """The items of a list, each with the lines that go on with it."""
        items = []
        while (line := self.peek()) is not None and (begin := re.match(r"(-|\d+\.) +(.*)", line)):
            self.at += 1
            more = self.take_while(lambda line: re.match(r" {2,}\S", line))
            items.append(("\\(bu" if begin[1] == "-" else begin[1], " ".join([begin[2], *(each.strip() for each in more)])))
        return items

    def block(self):
        line = self.peek()
        if found := re.match(r"(#+) +(.*)", line):
            self.at += 1
            return heading(len(found[1]), found[2])
        if line.startswith("```"):
            self.at += 1
            inner = self.take_while(lambda line: not line.startswith("```"))
            self.at += 1
            return code(inner)
        if line.startswith("    "):
            return code([each[4:] for each in self.take_while(lambda line: line.startswith("    "))])
        if line.startswith("|"):
            return table(self.take_while(lambda line: line.startswith("|")))
        if re.match(r"(-|\d+\.) ", line):
            return listing(self.items())
        text = self.take_while(lambda line: line.strip() and not re.match(r"#+ |```|\||- |\d+\. ", line))
        if not text:  # begins as nothing of the above and is no text: the page has something new
            raise ValueError(f"cannot be read: {line!r}")
        return [".PP", inline(" ".join(text))]


def from_markdown(text):
    """The lines of roff for a text of Markdown."""
    reader, out = Reader(text), []
    while reader.peek() is not None:
        if reader.peek().strip():
            out += reader.block()
        else:
            reader.at += 1
    return tidy(out)


def tidy(lines):
    """Without paragraphs that hold nothing: groff warns of them."""
    out = []
    for line in lines:
        if out and out[-1] == ".PP" and re.match(r"\.(PP|SH|SS|TP|IP)\b", line):
            out.pop()
        if line == ".PP" and out and re.match(r"\.(SH|SS)\b", out[-1]):
            continue
        out.append(line)
    while out and out[-1] == ".PP":
        out.pop()
    return out


def page(name, section, what, version, body):
    """A whole man page."""
    head = [f'.TH {name.upper()} {section} "" "seriesgate {version}" "seriesgate"', ".nh", ".ad l", ".SH NAME",
            f"{escape(name)} \\- {escape(what)}"]
    return "\n".join([*head, *body]) + "\n"
