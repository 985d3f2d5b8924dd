"""Dates of columns: one form is found for all of them, and asked for where two fit."""

from __future__ import annotations

import datetime as dt

import pytest
from readers_common import error_of, write_csv

from spheremix.errors import ParameterError
from spheremix.text import read_documents
from spheremix.text.dates import USUAL, parse_dates, pattern_of

DAYS = [dt.date(2015, 2, 24) + dt.timedelta(days=11 * i) for i in range(40)]
NUMERIC = ["%d.%m.%Y", "%m/%d/%Y", "%d-%m-%Y", "%d/%m/%y", "%m/%d/%y", "%d. %m. %Y"]
WORDS = ["%d %B %Y", "%d. %B %Y", "%B %d, %Y", "%b %d %Y", "%d-%b-%y", "%A, %d %B %Y"]


@pytest.mark.parametrize("time", ["", " 11:35", ", 11:35:52 AM"])
@pytest.mark.parametrize("form", [*NUMERIC, *WORDS, "%a %b %d %H:%M:%S +0000 %Y", "%Y-%m-%dT%H:%M"])
def test_what_python_writes_is_read(form, time):
    behind = "" if "%H" in form else time
    found, _ = parse_dates([day.strftime(form) + behind for day in DAYS])
    assert found == [day.isoformat() for day in DAYS]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2/24/2015", "2015-02-24"),
        ("24. Februar 2015", "2015-02-24"),
        ("1er ao\u00fbt 2015", "2015-08-01"),
        ("24 de febrero de 2015", "2015-02-24"),
        ("3 M\u00e4rz 1990", "1990-03-03"),
        ("24th Feb. 2015", "2015-02-24"),
        ("Tue Feb 24 11:35:52 PST 2015", "2015-02-24"),
        ("February 2015", "2015-02"),
        ("02/2015", "2015-02"),
        ("24.02.69", "1969-02-24"),
        ("24.02.68", "2068-02-24"),
        ("3/3/2015", "2015-03-03"),  # day and month are the same
        (1424764800, "2015-02-24"),  # seconds since 1970
        ("1424822399999", "2015-02-24"),
        ("1424764800.0", "2015-02-24"),
        ("2015\u5e742\u670824\u65e5", "2015-02-24"),
    ],
)
def test_dates_of_one_value(value, expected):
    assert parse_dates([value, None, "1990", value])[0] == [expected, None, "1990", expected]


def test_all_usual_forms_are_forms():
    assert all(map(pattern_of, USUAL))


def columns_of(tmp_path, dates, name="date"):
    rows = [{"text": f"text {i}", name: one} for i, one in enumerate(dates)]
    return write_csv(tmp_path / "a.csv", rows)


def test_one_day_tells_the_form_of_the_column(tmp_path):
    corpus = read_documents(columns_of(tmp_path, ["2/3/2015", "2/24/2015", ""]))
    assert corpus.dates == ["2015-02-03", "2015-02-24", None]
    assert corpus.metadata == {"date": ["2/3/2015", "2/24/2015", ""]}
    assert "Dates are written %m/%d/%Y: '2/24/2015' is 2015-02-24." in corpus.notes


def test_an_open_order_is_said_and_asked_for(tmp_path):
    path = columns_of(tmp_path, ["1/1/2015", "2/3/2015", "4/5/2015"])
    corpus = read_documents(path)
    assert corpus.dates is None
    said = "'2/3/2015' may be written %d/%m/%Y or %m/%d/%Y, and so may all dates of this column"
    assert any(f"not used as the date: {said}" in note for note in corpus.notes)
    assert f"column 'date': {said}: say which, as with date_format=%d/%m/%Y." in error_of(
        path, date="date"
    )
    for form, first in (("%d/%m/%Y", "2015-03-02"), ("%m/%d/%Y", "2015-02-03")):
        assert read_documents(path, date_format=form).dates[1] == first


def test_the_one_that_is_not_as_the_others_is_named(tmp_path):
    path = columns_of(tmp_path, ["24.02.2015", "25.02.2015", "31.02.2015"])
    said = "line 4: column 'date': '31.02.2015' is not a date that is written %d.%m.%Y"
    assert said in error_of(path, date="date")
    # A guessed column is not dropped where its form is given.
    assert said in error_of(path, date_format="%d.%m.%Y")


def test_what_is_given_must_be_a_form_of_a_column(tmp_path):
    path = columns_of(tmp_path, ["2015-24-02"], name="when")
    assert read_documents(path, date="when", date_format="%Y-%d-%m").dates == ["2015-02-24"]
    assert "no column is obviously the date" in error_of(path, date_format="%Y-%d-%m")
    assert "is not a date" in error_of(path, date="when", date_format="%Y-%m-%d")
    with pytest.raises(ParameterError, match="date_format must say how dates are written"):
        read_documents(path, date="when", date_format="%d.%m")
    (tmp_path / "texts").mkdir()
    assert "date_format is for a column of dates" in error_of(
        tmp_path / "texts", date_format="%d.%m.%Y"
    )
