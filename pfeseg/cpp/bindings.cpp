// Python door of the compiled kernels: checks shapes, calls and wraps the results.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "boundary_matching.hpp"
#include "column_blocks.hpp"
#include "incomplete_cholesky.hpp"
#include "numpy_arrays.hpp"
#include "system_matrix.hpp"
#include "variants.hpp"

using namespace pfeseg;

namespace {

// Whether a signal such as Ctrl-C has come; the Python exception is set then.
bool interrupted_by_signal() {
    nb::gil_scoped_acquire acquire;
    return PyErr_CheckSignals() != 0;
}

// Calls `run`, which returns false when a signal interrupted it, without the GIL.
template <class Run>
void run_without_gil(Run run) {
    bool finished = false;
    {
        nb::gil_scoped_release release;
        finished = run();
    }
    if (!finished) throw nb::python_error();
}

// The split Bregman loop; see ColumnBlocks.
template <class T>
class SplitBregman {
  public:
    // A as symmetric CSR with sorted indices; one weight for each entry above
    // the diagonal, in that order.
    SplitBregman(Vector<int32_t> indptr, Vector<int32_t> indices, Vector<double> data,
                 Vector<double> weights, Vector<double> degrees, double lam, double r,
                 double relaxation, const std::string &variant)
        : matrix_({static_cast<int32_t>(degrees.size()), indptr.data(), indices.data(),
                   data.data()},
                  weights.data(), weights.size(), degrees.data(), lam, r, relaxation),
          blocks_(matrix_, variant) {}

    // Begins a loop with target F, (n, d).
    void start(Matrix<T> F, int threads) {
        if (F.shape(0) != static_cast<size_t>(blocks_.rows()) || F.shape(1) < 1)
            throw std::invalid_argument("F must have shape (n, d)");
        if (threads < 1) throw std::invalid_argument("at least one thread is needed");
        run_without_gil([&] {
            return blocks_.start(F.data(), static_cast<int>(F.shape(1)), threads,
                                 interrupted_by_signal);
        });
    }

    // Runs `iterations` more split Bregman iterations. Returns, each with one
    // row per iteration and one column per channel: ||M y||_1,
    // ||D^1/2 y - f||^2, PCG iterations, and 1 where they hit the cap.
    std::tuple<Result<double, 2>, Result<double, 2>, Result<int32_t, 2>, Result<int32_t, 2>>
    advance(int iterations, double rtol, int max_pcg_iterations, int threads) {
        const auto rows = static_cast<size_t>(iterations);
        const auto columns = static_cast<size_t>(blocks_.columns());
        std::vector<double> energy(rows * columns), fidelity(rows * columns);
        std::vector<int32_t> pcg(rows * columns), capped(rows * columns);
        run_without_gil([&] {
            return blocks_.advance(iterations, rtol, max_pcg_iterations, threads,
                                   {energy.data(), fidelity.data(), pcg.data(), capped.data()},
                                   interrupted_by_signal);
        });
        return {to_numpy<double, 2>(std::move(energy), {rows, columns}),
                to_numpy<double, 2>(std::move(fidelity), {rows, columns}),
                to_numpy<int32_t, 2>(std::move(pcg), {rows, columns}),
                to_numpy<int32_t, 2>(std::move(capped), {rows, columns})};
    }

    Result<T, 2> solution() const {
        const auto n = static_cast<size_t>(blocks_.rows());
        const auto columns = static_cast<size_t>(blocks_.columns());
        std::vector<T> Y(n * columns);
        blocks_.write_solution(Y.data());
        return to_numpy<T, 2>(std::move(Y), {n, columns});
    }

  private:
    SystemMatrix<T> matrix_;
    ColumnBlocks<T> blocks_;
};

// L as (indptr, indices, values) by columns, which is L^T by rows, and the pivots.
std::tuple<Result<int32_t, 1>, Result<int32_t, 1>, Result<double, 1>, Result<double, 1>>
incomplete_cholesky(Vector<int32_t> indptr, Vector<int32_t> indices, Vector<double> data,
                    double relaxation) {
    const auto n = static_cast<int32_t>(indptr.size() - 1);
    UpperTriangle u = upper_triangle({n, indptr.data(), indices.data(), data.data()});
    factorise(u, relaxation);
    const size_t entries = u.node.size(), size = static_cast<size_t>(n);
    return {to_numpy<int32_t, 1>(std::move(u.row_start), {size + 1}),
            to_numpy<int32_t, 1>(std::move(u.node), {entries}),
            to_numpy<double, 1>(std::move(u.values), {entries}),
            to_numpy<double, 1>(std::move(u.diagonal), {size})};
}

// The marks that are matched with a pixel of the truth, by offsets (dy, dx), nearest first.
Result<uint8_t, 2> match_boundaries(Matrix<uint8_t> marks, Matrix<uint8_t> truth,
                                    Matrix<int32_t> offsets) {
    const size_t height = marks.shape(0), width = marks.shape(1);
    if (truth.shape(0) != height || truth.shape(1) != width || offsets.shape(1) != 2)
        throw std::invalid_argument("both maps must have one shape, and offsets two columns");
    std::vector<Offset> steps;
    for (size_t k = 0; k < offsets.shape(0); ++k)
        steps.push_back({offsets.data()[2 * k], offsets.data()[2 * k + 1]});
    std::vector<uint8_t> matched(height * width, 0);
    {
        nb::gil_scoped_release release;
        BoundaryMatching matching(marks.data(), truth.data(), height, width, std::move(steps));
        matching.run();
        matching.write(matched.data());
    }
    return to_numpy<uint8_t, 2>(std::move(matched), {height, width});
}

template <class T>
void bind_loop(nb::module_ &m, const char *name) {
    nb::class_<SplitBregman<T>>(m, name)
        .def(nb::init<Vector<int32_t>, Vector<int32_t>, Vector<double>, Vector<double>,
                      Vector<double>, double, double, double, const std::string &>())
        .def("start", &SplitBregman<T>::start)
        .def("advance", &SplitBregman<T>::advance)
        .def("solution", &SplitBregman<T>::solution);
}

}  // namespace

NB_MODULE(_kernels, m) {
    m.def("incomplete_cholesky", &incomplete_cholesky);
    m.def("best_variant", &best_variant);
    m.def("match_boundaries", &match_boundaries);
    bind_loop<float>(m, "SplitBregmanSingle");
    bind_loop<double>(m, "SplitBregmanDouble");
    door::bind_pixels(m);
}
