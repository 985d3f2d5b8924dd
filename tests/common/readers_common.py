"""Files for the tests of the readers: written plain or packed, and refused in one line."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import json
import zipfile
from xml.sax.saxutils import escape, quoteattr

import pytest

from spheremix.text import ReadError, read_documents


def write(path, content):
    """Write text or bytes, gzipped where the name says so."""
    content = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def write_csv(path, rows, delimiter=","):
    with path.with_name("plain").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return write(path, path.with_name("plain").read_bytes())


def write_json(path, rows):
    return write(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def write_parquet(path, table):
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table(table), path)
    return path


def error_of(path, **columns):
    """Return the message of a refusal, which is one line and begins with the file."""
    with pytest.raises(ReadError) as caught:
        read_documents(path, **columns)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(path))
    return message.removeprefix(str(path))


def write_workbook(path, sheets, merged=()):
    """Write an .xlsx file: rows of cells by sheet, and cells that are merged in all of them."""
    names = {name: f"sheet{i}" for i, name in enumerate(sheets, 1)}
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    link = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    kind = "http://schemas.openxmlformats.org/package/2006"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{kind}/content-types"><Default Extension="rels" ContentType='
            '"application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" '
            'ContentType="application/xml"/></Types>',
        )
        file.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{kind}/relationships"><Relationship Id="r" '
            f'Type="{link}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        file.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{kind}/relationships">'
            + "".join(
                f'<Relationship Id="{one}" Type="{link}/worksheet" Target="worksheets/{one}.xml"/>'
                for one in names.values()
            )
            + f'<Relationship Id="s" Type="{link}/styles" Target="styles.xml"/></Relationships>',
        )
        file.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{main}" xmlns:r="{link}"><sheets>'
            + "".join(
                f'<sheet name={quoteattr(name)} sheetId="{one[5:]}" r:id="{one}"/>'
                for name, one in names.items()
            )
            + "</sheets></workbook>",
        )
        file.writestr(
            "xl/styles.xml",
            f'<styleSheet xmlns="{main}"><cellXfs count="2"><xf numFmtId="0"/>'
            '<xf numFmtId="22"/></cellXfs></styleSheet>',
        )
        ranges = "".join(f'<mergeCell ref="{one}"/>' for one in merged)
        for name, rows in sheets.items():
            cells = "".join(f'<row r="{i}">{_cells(i, row)}</row>' for i, row in enumerate(rows, 1))
            file.writestr(
                f"xl/worksheets/{names[name]}.xml",
                f'<worksheet xmlns="{main}"><sheetData>{cells}</sheetData>'
                + (f"<mergeCells>{ranges}</mergeCells>" if merged else "")
                + "</worksheet>",
            )
    return path


def _cells(i, row):
    written = []
    for j, value in enumerate(row):
        at = f'r="{chr(65 + j)}{i}"'
        if isinstance(value, bool):
            written.append(f'<c {at} t="b"><v>{int(value)}</v></c>')
        elif isinstance(value, dt.datetime):
            days = (value - dt.datetime(1899, 12, 30, tzinfo=value.tzinfo)) / dt.timedelta(days=1)
            written.append(f'<c {at} s="1"><v>{days!r}</v></c>')
        elif isinstance(value, int | float):
            written.append(f"<c {at}><v>{value}</v></c>")
        elif value is not None:
            text = escape(value)
            written.append(
                f'<c {at} t="e"><v>{text}</v></c>'
                if value.startswith("#")
                else f'<c {at} t="inlineStr"><is><t>{text}</t></is></c>'
            )
    return "".join(written)
