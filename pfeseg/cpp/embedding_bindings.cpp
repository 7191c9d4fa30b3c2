// Python door of what the solver does with an embedding, a row for each node.
#include <nanobind/stl/optional.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "door.hpp"
#include "edge_energy.hpp"
#include "numpy_arrays.hpp"
#include "tall_matrix.hpp"

namespace pfeseg::door {
namespace {

template <class T>
using Writable = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// More columns than that would have more products than 32 bits can number.
void check_columns(size_t columns) {
    check(columns >= 1 && columns <= 1 << 15, "matrices must have 1 to 32768 columns");
}

Result<double, 2> square(std::vector<double> gram) {
    const auto d = static_cast<size_t>(std::sqrt(static_cast<double>(gram.size())) + 0.5);
    return to_numpy<double, 2>(std::move(gram), {d, d});
}

// X^T X of X = diag(scale) rows, or of the rows.
template <class T>
Result<double, 2> gram_matrix(Matrix<T> rows, std::optional<Vector<T>> scale, int threads) {
    check_threads(threads);
    check_columns(rows.shape(1));
    check(!scale || scale->size() == rows.shape(0), "one scale is needed for each row");
    // Not written to.
    const TallMatrix<T> X(const_cast<T *>(rows.data()), rows.shape(0), rows.shape(1), threads);
    std::vector<double> gram;
    {
        nb::gil_scoped_release release;
        gram = X.gram(scale ? scale->data() : nullptr);
    }
    return square(std::move(gram));
}

// Adds diag(scale) more to the rows; X^T X of what comes out.
template <class T>
Result<double, 2> add_scaled(Writable<T> rows, Matrix<T> more, Vector<T> scale, int threads) {
    check_threads(threads);
    check_columns(rows.shape(1));
    check(more.shape(0) == rows.shape(0) && more.shape(1) == rows.shape(1) &&
              scale.size() == rows.shape(0),
          "both matrices must have one shape, and one scale for each row");
    TallMatrix<T> X(rows.data(), rows.shape(0), rows.shape(1), threads);
    std::vector<double> gram;
    {
        nb::gil_scoped_release release;
        gram = X.add(more.data(), scale.data());
    }
    return square(std::move(gram));
}

// With P = rows factor: subtracts P from the rows, and writes P minus what comes out to `target`.
template <class T>
void split_off(Writable<T> rows, Matrix<T> factor, Writable<T> target, int threads) {
    check_threads(threads);
    check_columns(rows.shape(1));
    check(factor.shape(0) == rows.shape(1) && factor.shape(1) == rows.shape(1) &&
              target.shape(0) == rows.shape(0) && target.shape(1) == rows.shape(1),
          "the factor must be square, and the target like the rows");
    TallMatrix<T> X(rows.data(), rows.shape(0), rows.shape(1), threads);
    nb::gil_scoped_release release;
    X.split(factor.data(), target.data());
}

// ||M y||_1 of each column of Y.
template <class T>
Result<double, 1> energy_of_edges(Matrix<int32_t> edges, Vector<double> weights, Matrix<T> Y) {
    check(edges.shape(1) == 2 && weights.size() == edges.shape(0),
          "edges must be pairs, with one weight for each");
    check_edges(edges, Y.shape(0));
    return to_numpy<double, 1>(
        edge_energy(edges.data(), weights.data(), edges.shape(0), Y.data(), Y.shape(1)),
        {Y.shape(1)});
}

template <class T>
void bind_matrices(nb::module_ &m) {
    const auto in_place = nb::arg().noconvert();  // or a copy would be written to
    m.def("gram_matrix", &gram_matrix<T>, nb::arg(), nb::arg().none(), nb::arg());
    m.def("add_scaled", &add_scaled<T>, in_place, nb::arg(), nb::arg(), nb::arg());
    m.def("edge_energy", &energy_of_edges<T>);
    m.def("split_off", &split_off<T>, in_place, nb::arg(), in_place, nb::arg());
}

}  // namespace

void bind_embeddings(nb::module_ &m) {
    bind_matrices<float>(m);
    bind_matrices<double>(m);
}

}  // namespace pfeseg::door
