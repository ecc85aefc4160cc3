"""check_rows tries every row, and says of each what was wrong with it."""

from types import SimpleNamespace

import pytest

from tables import check_rows, crossed, named

pytestmark = pytest.mark.text


def is_even(number):
    assert number % 2 == 0


@pytest.mark.parametrize("at_once", [1, 3])
def test_every_row_that_failed_is_listed_and_no_other(at_once):
    tried = []

    def check(number):
        tried.append(number)
        is_even(number)

    check_rows(named([0, 2, 4]), check, at_once=at_once)
    with pytest.raises(AssertionError) as failure:
        check_rows({"first": 1, "second": 2, "third": 3}, check, at_once=at_once)
    said = str(failure.value).splitlines()
    assert said[0] == "3 of 3 rows were tried, these failed:"
    assert [line.split(":")[0] for line in said if line.startswith("'")] == ["'first'", "'third'"]
    assert sorted(tried) == [0, 1, 2, 2, 3, 4]


def test_an_error_is_a_failure_too_and_says_where():
    with pytest.raises(AssertionError, match=r"'a': test_tables\.py:\d+: ZeroDivisionError: division by zero"):
        check_rows({"a": 0}, lambda number: 1 / number)


def test_a_gate_that_ends_ends_the_table():
    gate = SimpleNamespace(running=True, wait=lambda seconds: -11, log="its last words")

    def ends_it(number):
        gate.running = number != 2
        assert gate.running

    with pytest.raises(AssertionError, match="(?s)2 of 3 rows .* ended with status -11\nits last words"):
        check_rows(named([1, 2, 3]), ends_it, gate)


def test_a_gate_has_to_be_healthy_at_the_end():
    gate = SimpleNamespace(running=True, get=lambda path: SimpleNamespace(status=503))
    with pytest.raises(AssertionError):
        check_rows(named([1]), lambda number: None, gate)


def test_a_table_has_rows_and_each_has_a_name_of_its_own():
    with pytest.raises(AssertionError):
        check_rows({}, is_even)
    assert crossed([1, 2], {"x": "y"}) == {"1, x": (1, "y"), "2, x": (2, "y")}
    with pytest.raises(AssertionError):
        crossed(["1", 1])
    with pytest.raises(AssertionError):
        named([1, 1])
