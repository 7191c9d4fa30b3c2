"""Tables of data and lists of edges: read whole, or refused by row and column."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz

from pfeseg import InvalidInputError
from pfeseg.files.edge_lists import read_graph
from pfeseg.files.tables import read_table


@pytest.fixture
def table(tmp_path):
    def read(text, name="t.csv", **options):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return read_table(path, **options)

    return read


@pytest.mark.parametrize(
    ("text", "columns", "ids", "id_name"),
    [
        ("x,y\n1,2\n3,4\n", ("x", "y"), None, "row"),
        ("1,2\n3,4\n", ("column 1", "column 2"), None, "row"),
        ("1 2\n3 4\n\n", ("column 1", "column 2"), None, "row"),
        ("id;x;y\n7;1;2\n8;3;4\n", ("x", "y"), ("7", "8"), "id"),
        ("name\tx\ty\nann\t1\t2\nbob\t3\t4\n", ("x", "y"), ("ann", "bob"), "name"),
        (",x,y\n0,1,2\n1,3,4\n", ("x", "y"), ("0", "1"), "id"),
        ("x y\nr1 1 2\nr2 3 4\n", ("x", "y"), ("r1", "r2"), "id"),  # as R writes it
        ('"a, b",c\n1,2\n"3",4\n', ("a, b", "c"), None, "row"),
        ("\ufeffx,y\r\n1,2\r\n3,4\r\n", ("x", "y"), None, "row"),
    ],
)
def test_header_and_id_column_are_found(table, text, columns, ids, id_name):
    found = table(text)
    assert found.columns == columns
    assert found.ids == ids
    assert found.id_name == id_name
    np.testing.assert_array_equal(found.values, [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,y\n1,2\n3,\n", r"row 2 has no value in column 'y'.*drop=\"y\""),
        ("x,y\n1,nan\n3,4\n", "row 1 has no value in column 'y'"),
        ("x,y\n1,2\nNA,4\n", "row 2 has no value in column 'x'"),
        ("x,y\n1,-inf\n3,4\n", "row 1 has an infinite value in column 'y'"),
        ("x,kind\n1,a\n3,a\n", r"column 'kind' holds text \('a' in row 1\)"),
        ("x,y\n1,2\n3\n", "row 2 has 1 fields where 2 were expected"),
        ("x,y\n", "holds a header, but no rows"),
        ("", "the file is empty"),
    ],
)
def test_what_is_wrong_is_told_by_row_and_column(table, text, message):
    with pytest.raises(InvalidInputError, match=message):
        table(text)


def test_columns_are_dropped_by_name_or_number(table):
    text = "x,kind,y\n1,a,2\n3,a,4\n"
    for drop in (["kind"], ["2"]):
        np.testing.assert_array_equal(table(text, drop=drop).values, [[1, 2], [3, 4]])
    assert table(text, id_column="kind").ids == ("a", "a")
    with pytest.raises(InvalidInputError, match="names the column 'z', but its 3 columns are x"):
        table(text, drop=["z"])
    with pytest.raises(InvalidInputError, match="no column of numbers is left"):
        table(text, drop=["x", "kind", "y"])


def test_all_formats_hold_the_same_table(tmp_path):
    values = np.random.default_rng(0).normal(size=(20, 3))
    text = "\n".join(",".join(repr(float(v)) for v in row) for row in values)
    (tmp_path / "a.csv").write_text(text)
    (tmp_path / "a.tsv").write_text(text.replace(",", "\t"))
    (tmp_path / "a.data.gz").write_bytes(gzip.compress(text.replace(",", "  ").encode()))
    np.save(tmp_path / "a.npy", values)
    np.savez(tmp_path / "a.npz", X=values, y=np.zeros(20))
    save_npz(tmp_path / "sparse.npz", csr_array(values))
    for path in sorted(tmp_path.iterdir()):
        found = read_table(path).values
        dense = found.toarray() if hasattr(found, "toarray") else found
        np.testing.assert_array_equal(dense, values, err_msg=path.name)


def test_parquet_is_read(tmp_path):
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    sheet = arrow.table({"name": ["a", "b"], "x": [1, 2], "y": [0.5, None]})
    parquet.write_table(sheet, tmp_path / "t.parquet")
    with pytest.raises(InvalidInputError, match="row 2 has no value in column 'y'"):
        read_table(tmp_path / "t.parquet")
    found = read_table(tmp_path / "t.parquet", drop=["y"])
    assert found.ids == ("a", "b")
    assert found.values.tolist() == [[1.0], [2.0]]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", b"\x89PNG\xff", "not text in UTF-8"),
        ("t.csv.gz", b"\x1f\x8b\x08broken", "damaged gzip"),
        ("t.npy", b"\x93NUMPY\x01", "damaged or unsupported array"),
        ("t.npz", b"PK\x03\x04", "damaged or unsupported file"),
    ],
)
def test_damaged_files_are_refused(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInputError, match=message):
        read_table(tmp_path / name)


def test_pickled_arrays_are_refused(tmp_path):
    np.save(tmp_path / "t.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(InvalidInputError, match="unsupported array"):
        read_table(tmp_path / "t.npy")


@pytest.mark.parametrize(
    "text",
    [
        "a b 0.5\nb c 1\n",
        "# edges\nfrom,to,weight\nb,a,0.5\nc,b,1\n",
        "a\tb\t0.5\nb\ta\t0.25\nb\tc\t1\nc\tc\t9\n",
    ],
)
def test_edges_make_a_symmetric_matrix(tmp_path, text):
    (tmp_path / "g.txt").write_text(text)
    found = read_graph(tmp_path / "g.txt")
    assert found.nodes == ("a", "b", "c")
    np.testing.assert_array_equal(found.weights.toarray(), [[0, 0.5, 0], [0.5, 0, 1], [0, 1, 0]])


def test_whole_numbers_name_nodes_in_their_order(tmp_path):
    (tmp_path / "g.txt").write_text("10 2\n2 9\n")
    found = read_graph(tmp_path / "g.txt")
    assert found.nodes == ("2", "9", "10")
    assert found.weights.toarray().tolist() == [[0, 1, 1], [1, 0, 0], [1, 0, 0]]


def test_a_sparse_matrix_is_its_own_graph(tmp_path):
    rng = np.random.default_rng(1)
    upper = csr_array(rng.random((8, 8)) * (rng.random((8, 8)) < 0.5))
    save_npz(tmp_path / "g.npz", upper)
    dense = upper.toarray() * (1 - np.eye(8))
    expected = np.maximum(dense, dense.T)
    np.testing.assert_array_equal(read_graph(tmp_path / "g.npz").weights.toarray(), expected)


@pytest.mark.parametrize("kind", [">f4", ">i4", "f2", "bool"])
def test_a_matrix_of_weights_may_be_of_any_kind_of_numbers(tmp_path, kind):
    weights = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=kind)
    np.save(tmp_path / "g.npy", weights)
    found = read_graph(tmp_path / "g.npy").weights.toarray()
    np.testing.assert_array_equal(found, weights.astype(float))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a b 1\nb c -2\n", "edge 2 has the weight '-2'"),
        ("a b\nb c d e\n", "edge 2 has 4 fields"),
        ("# nothing\n", "holds no edge"),
    ],
)
def test_edges_that_are_wrong_are_told(tmp_path, text, message):
    (tmp_path / "g.txt").write_text(text)
    with pytest.raises(InvalidInputError, match=message):
        read_graph(tmp_path / "g.txt")


def test_a_table_is_no_matrix_of_weights(tmp_path):
    np.save(tmp_path / "g.npy", np.ones((4, 3)))
    with pytest.raises(InvalidInputError, match="square matrix of weights, got 4 x 3"):
        read_graph(tmp_path / "g.npy")
