"""Programs that are asked about the tree."""

import subprocess

from gate import run


def output_of(*command, is_quiet=False, **how):
    """What it prints. It ends well, and has no warnings if it `is_quiet`."""
    made = subprocess.run(command, capture_output=True, text=True, **{"timeout": 200, **how})
    assert made.returncode == 0 and not (is_quiet and made.stderr), made
    return made.stdout


def takes(file, *flags):
    """The gate has nothing to say of this configuration."""
    checked = run(f"--config.file={file}", "--check-config", *flags)
    assert (checked.returncode, checked.stderr) == (0, ""), checked
