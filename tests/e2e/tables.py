"""Tables of inputs and answers: one gate is asked about all rows of a test, and what went wrong is listed row by row."""

import math
import traceback
from pathlib import Path

from world import ThreadPoolExecutor

SHOWN_MAX = 2000  # characters of what one row has to say


def check_rows(rows, check, gate=None, at_once=1):
    """Calls check(*row) for every row, and fails with all rows for which it failed.

    @param rows {name: row, a tuple of arguments, or one argument that is no tuple}
    @param gate if given, it has to run on after each row, and to be healthy at the end. What is behind the row that ends it is
    not tried.
    @param at_once how many rows to try side by side: for rows that wait, and share nothing.
    """
    wrong, tried = [], 0
    with ThreadPoolExecutor(at_once) as threads:
        errors = threads.map(lambda row: _error_of(check, row), rows.values()) if at_once > 1 else (
            _error_of(check, row) for row in rows.values())
        for name, error in zip(rows, errors):
            tried += 1
            if error is None:
                continue
            wrong.append(f"{name!r}: {_why(error)}")
            if gate and not gate.running:
                wrong.append(f"and the gate has ended with status {gate.wait(1)}\n{gate.log[-SHOWN_MAX:]}")
                break
    if wrong:
        raise AssertionError("\n".join([f"{tried} of {len(rows)} rows were tried, these failed:", *wrong]))
    assert tried, "a table without rows"
    if gate:
        assert gate.running
        assert gate.get("/health").status == 200


def named(values):
    """{repr(value): (value,)}: rows that are their own names."""
    rows = {repr(value): (value,) for value in values}
    assert len(rows) == len(values), "rows of one name"
    return rows


def crossed(*columns):
    """All combinations, as rows by their names; each column is {name: value} or a list of values."""
    made = {"": ()}
    for column in columns:
        column = column if isinstance(column, dict) else {str(value): value for value in column}
        made = {f"{before}, {name}" if before else name: (*row, value)
                for before, row in made.items() for name, value in column.items()}
    assert len(made) == math.prod(map(len, columns)), "rows of one name"
    return made


def _error_of(check, row):
    try:
        check(*row) if isinstance(row, tuple) else check(row)
    except Exception as error:
        return error


def _why(error):
    """The message, and the line of the test that it comes from."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).name.startswith("test_")]
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}: " if frames else ""
    return f"{where}{type(error).__name__}: {error}"[:SHOWN_MAX]
