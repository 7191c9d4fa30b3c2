// Python door of clustering: k-means and mixtures.
#include <nanobind/stl/tuple.h>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "door.hpp"
#include "kmeans.hpp"
#include "mixture.hpp"
#include "numpy_arrays.hpp"
#include "variants.hpp"

namespace pfeseg::door {
namespace {

// Their numbers have to be numbers in single precision too.
void check_centres(size_t count) {
    check(count <= 1 << 24, "there may be 2^24 centres at most");
}

// The nearest centre of each row, and its squared distance.
template <class T>
std::tuple<Result<int32_t, 1>, Result<T, 1>> nearest_centres(Matrix<T> rows, Matrix<T> centres) {
    const size_t n = rows.shape(0);
    if (centres.shape(1) != rows.shape(1) || !centres.size())
        refuse("rows and centres must have as many columns");
    check_centres(centres.shape(0));
    const LineLoops<T> lines = lines_of<T>(dense_loops());
    std::vector<int32_t> labels(n);
    std::vector<T> distances(n);
    {
        nb::gil_scoped_release release;
        pfeseg::nearest_centres(rows.data(), n, rows.shape(1), centres.data(), centres.shape(0),
                                lines, labels.data(), distances.data());
    }
    return {to_numpy<int32_t, 1>(std::move(labels), {n}),
            to_numpy<T, 1>(std::move(distances), {n})};
}

// Rows to start k-means from, by greedy k-means++.
template <class T>
Result<int32_t, 1> spread_starts(Matrix<T> rows, Vector<double> weights, int32_t first,
                                 Matrix<double> draws) {
    const size_t n = rows.shape(0);
    if (weights.size() != n || !rows.shape(1))
        refuse("rows that are not empty need a weight each");
    check(draws.size() || !draws.shape(0), "each centre needs a draw at least");
    check_size(n);
    check_numbers(&first, 1, n, "there is no such row");
    const LineLoops<T> lines = lines_of<T>(dense_loops());
    const size_t centres = draws.shape(0) + 1;
    std::vector<int32_t> chosen;
    {
        nb::gil_scoped_release release;
        const PointCloud<T> points(rows.data(), n, rows.shape(1), lines);
        chosen = pfeseg::spread_starts(points, weights.data(), first, draws.data(), centres,
                                       draws.shape(1));
    }
    return to_numpy<int32_t, 1>(std::move(chosen), {centres});
}

// Labels, squared distances and centres after Lloyd's iterations.
template <class T>
std::tuple<Result<int32_t, 1>, Result<T, 1>, Result<T, 2>> improve_centres(
    Matrix<T> rows, Vector<double> weights, Matrix<T> centres, int max_iterations,
    double enough) {
    const size_t n = rows.shape(0), d = rows.shape(1), k = centres.shape(0);
    if (weights.size() != n || centres.shape(1) != d || k < 1 || k > n || d < 1)
        refuse("rows, weights and centres do not fit together");
    constexpr int most = 10000;  // labels may come again and again
    if (max_iterations < 0 || max_iterations > most)
        refuse("there may be 0 to 10000 iterations");
    check_centres(k);
    const LineLoops<T> lines = lines_of<T>(dense_loops());
    Clustering<T> found;
    {
        nb::gil_scoped_release release;
        found = pfeseg::improve_centres(rows.data(), n, d, weights.data(),
                                        copied(centres.data(), centres.size()), max_iterations,
                                        enough, lines);
    }
    return {to_numpy<int32_t, 1>(std::move(found.labels), {n}),
            to_numpy<T, 1>(std::move(found.distances), {n}),
            to_numpy<T, 2>(std::move(found.centres), {k, d})};
}

// The posterior, (K, n), its moments, (K, m), and the summed log-likelihood.
std::tuple<Result<double, 2>, Result<double, 2>, double> expectation(
    Matrix<double> monomials, Matrix<double> coefficients) {
    const size_t m = monomials.shape(0), n = monomials.shape(1), components = coefficients.shape(0);
    if (coefficients.shape(1) != m || !m || !components)
        refuse("each component needs a coefficient of each monomial");
    size_of({components, n});
    const DenseLoops loops = dense_loops();
    Expectation found;
    {
        nb::gil_scoped_release release;
        found = expect(monomials.data(), m, n, coefficients.data(), components, loops);
    }
    return {to_numpy<double, 2>(std::move(found.posterior), {components, n}),
            to_numpy<double, 2>(std::move(found.moments), {components, m}),
            found.log_likelihood};
}

template <class T>
void bind_kmeans(nb::module_ &m) {
    m.def("nearest_centres", &nearest_centres<T>);
    m.def("spread_starts", &spread_starts<T>);
    m.def("improve_centres", &improve_centres<T>);
}

}  // namespace

void bind_clusters(nb::module_ &m) {
    bind_kmeans<float>(m);
    bind_kmeans<double>(m);
    m.def("expectation", &expectation);
}

}  // namespace pfeseg::door
