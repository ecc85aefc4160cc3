"""What bash, zsh and fish complete behind `seriesgate` and its subcommands: flags, and files where a flag takes one."""

import command_line

FILE = "FILE"  # what --help calls a value that is the path of a file


def names(flags, wanted=lambda flag: True):
    return [name for flag in flags if wanted(flag) for name in flag.names]


def about(program):
    """What a list of subcommands says of one."""
    return program.purpose.partition(":")[0]


def bash(gate, subcommands):
    def files(program):
        return "|".join(names(program.flags, lambda flag: flag.value == FILE)) or "-"

    def valued(program):
        return "|".join(names(program.flags, lambda flag: flag.value not in ("", FILE))) or "-"

    cases = "".join(f"""\
    if [[ ${{COMP_WORDS[1]}} == {name} && $COMP_CWORD -gt 1 ]]; then
        flags='{" ".join(names(each.flags))}' files='{files(each)}' valued='{valued(each)}'
    fi
""" for name, each in subcommands.items())
    return f"""\
# bash completion of seriesgate; made of its --help
_seriesgate() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} flags files valued
    flags='{" ".join(names(gate.flags))}' files='{files(gate)}' valued='{valued(gate)}'
    if [[ $COMP_CWORD == 1 ]]; then
        flags+=' {" ".join(subcommands)}'
    fi
{cases}    # --flag=VALUE is three words here, for "=" divides words.
    if [[ $word == = ]]; then
        word=''
    elif [[ $before == = && $COMP_CWORD -gt 2 ]]; then
        before=${{COMP_WORDS[COMP_CWORD - 2]}}
    fi
    COMPREPLY=()
    if [[ "|$files|" == *"|$before|"* ]]; then
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    elif [[ "|$valued|" != *"|$before|"* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$flags" -- "$word")
    fi
}}
complete -F _seriesgate seriesgate
"""


def zsh_text(text):
    for character in "\\[]:'":
        text = text.replace(character, "'\\''" if character == "'" else "\\" + character)
    return text


def zsh_arguments(flags):
    lines = []
    for flag in flags:
        rest = f"[{zsh_text(flag.help)}]"
        if flag.value:
            colons = "::" if flag.value.startswith("[") else ":"
            rest = f"={rest}{colons}{flag.value.strip('[]')}:" + ("_files" if flag.value == FILE else "")
        if len(flag.names) > 1:
            lines.append(f"'({' '.join(flag.names)})'{{{','.join(flag.names)}}}'{rest}'")
        else:
            lines.append(f"'{flag.long}{rest}'")
    return " \\\n            ".join(lines)


def zsh(gate, subcommands):
    cases = "".join(f"""\
    if [[ ${{words[2]}} == {name} && $CURRENT -gt 2 ]]; then
        shift words
        (( CURRENT-- ))
        _arguments -s \\
            {zsh_arguments(each.flags)}
        return
    fi
""" for name, each in subcommands.items())
    commands = " ".join(f'{name}\\:"{zsh_text(about(each))}"' for name, each in subcommands.items())
    return f"""\
#compdef seriesgate
# zsh completion of seriesgate; made of its --help
_seriesgate() {{
{cases}\
    _arguments -s \\
        {zsh_arguments(gate.flags)} \\
        '1:command:(({commands}))'
}}
_seriesgate "$@"
"""


def fish_text(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish(gate, subcommands):
    none = f"not __fish_seen_subcommand_from {' '.join(subcommands)}"
    lines = ["# fish completion of seriesgate; made of its --help", "complete -c seriesgate -f",
             *(f"complete -c seriesgate -n '{none}' -a {name} -d {fish_text(about(each))}"
               for name, each in subcommands.items())]
    programs = [(gate, none), *((each, f"__fish_seen_subcommand_from {name}") for name, each in subcommands.items())]
    for program, condition in programs:
        for flag in program.flags:
            short = "".join(f" -s {name[1:]}" for name in flag.names if not name.startswith("--"))
            value = "" if flag.value.startswith("[") else {"": "", FILE: " -r -F"}.get(flag.value, " -x")
            lines.append(f"complete -c seriesgate -n '{condition}'{short} -l {flag.long[2:]}{value} -d {fish_text(flag.help)}")
    return "\n".join(lines) + "\n"


def of(binary):
    """What each shell reads, by the name of the shell."""
    gate = command_line.of(binary)
    subcommands = {name: command_line.of(binary, name) for name in command_line.SUBCOMMANDS}
    return {shell: made(gate, subcommands) for shell, made in (("bash", bash), ("zsh", zsh), ("fish", fish))}
