// Python door of the solver: eliminations, loops and the incomplete factor.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "column_blocks.hpp"
#include "door.hpp"
#include "elimination.hpp"
#include "exact_blocks.hpp"
#include "incomplete_cholesky.hpp"
#include "numpy_arrays.hpp"
#include "system_matrix.hpp"
#include "variants.hpp"

namespace pfeseg::door {
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

// Positions whose sums and differences have 32 bits too.
void check_positions(const Matrix<int32_t> &positions) {
    for (size_t k = 0; k < positions.size(); ++k)
        if (positions.data()[k] <= -(1 << 29) || positions.data()[k] >= 1 << 29)
            refuse("positions must lie within 2^29 of 0");
}

// A matrix of n rows, whose arrays fit together: n + 1 places that never fall, and columns of each
// row in their order.
SymmetricCsr checked_rows(const Vector<int32_t> &indptr, const Vector<int32_t> &indices,
                          const Vector<double> &data) {
    const size_t n = indptr.size() - 1, entries = indices.size();
    const int32_t *place = indptr.data(), *column = indices.data();
    check_size(indptr.size());
    check_size(entries);
    if (indptr.size() < 2 || place[0] != 0 || data.size() != entries ||
        place[n] != static_cast<int32_t>(entries))
        refuse("the arrays of a matrix do not fit together");
    for (size_t i = 0; i < n; ++i)
        if (place[i + 1] < place[i]) refuse("rows of a matrix overlap");
    check_numbers(column, entries, n, "a matrix has no such column");
    for (size_t i = 0; i < n; ++i)
        for (int32_t k = place[i] + 1; k < place[i + 1]; ++k)
            if (column[k] <= column[k - 1])
                refuse("columns of a row must be sorted and different");
    return {static_cast<int32_t>(n), place, column, data.data()};
}

// The time in which one thread uses a loop. Others, and signal handlers, can run meanwhile: they
// are refused. It begins and ends with the GIL held.
class Turn {
  public:
    explicit Turn(bool &busy) : busy_(busy) {
        if (busy) throw std::runtime_error("this loop is in use by another thread");
        busy = true;
    }
    Turn(const Turn &) = delete;
    ~Turn() { busy_ = false; }

  private:
    bool &busy_;
};

// A split Bregman loop on blocks of columns: ColumnBlocks or ExactBlocks.
template <class T, class Matrix_, class Blocks>
class Loop {
  public:
    // Begins a loop with target F, (n, d), which must stay as it is until the loop has advanced.
    void start(Matrix<T> F, int threads) {
        const Turn turn(busy_);
        check(F.shape(0) == static_cast<size_t>(blocks_.rows()) && F.shape(1) >= 1 &&
                  F.shape(1) <= 1 << 24,
              "F must have shape (n, d), with 1 to 2^24 columns");
        check_threads(threads);
        target_ = std::move(F);
        run_without_gil([&] {
            return blocks_.start(target_->data(), static_cast<int>(target_->shape(1)), threads,
                                 interrupted_by_signal);
        });
    }

    // Runs `iterations` more split Bregman iterations. Returns, each with one
    // row per iteration and one column per channel: ||M y||_1,
    // ||D^1/2 y - f||^2, PCG iterations, and 1 where they hit the cap.
    std::tuple<Result<double, 2>, Result<double, 2>, Result<int32_t, 2>, Result<int32_t, 2>>
    advance(int iterations, int threads) {
        const Turn turn(busy_);
        check_threads(threads);
        check(iterations >= 0 && blocks_.columns() >= 1,
              "a loop that was started, and iterations, are needed");
        const auto rows = static_cast<size_t>(iterations);
        const auto columns = static_cast<size_t>(blocks_.columns());
        std::vector<double> energy(rows * columns), fidelity(rows * columns);
        std::vector<int32_t> pcg(rows * columns), capped(rows * columns);
        run_without_gil([&] {
            return blocks_.advance(iterations, threads,
                                   {energy.data(), fidelity.data(), pcg.data(), capped.data()},
                                   interrupted_by_signal);
        });
        target_.reset();
        return {to_numpy<double, 2>(std::move(energy), {rows, columns}),
                to_numpy<double, 2>(std::move(fidelity), {rows, columns}),
                to_numpy<int32_t, 2>(std::move(pcg), {rows, columns}),
                to_numpy<int32_t, 2>(std::move(capped), {rows, columns})};
    }

    Result<T, 2> solution() {
        const Turn turn(busy_);
        const auto n = static_cast<size_t>(blocks_.rows());
        const auto columns = static_cast<size_t>(blocks_.columns());
        Result<T, 2> Y = unwritten<T, 2>({n, columns});
        blocks_.write_solution(Y.data());
        return Y;
    }

  protected:
    template <class... Arguments>
    Loop(const std::string &variant, Arguments &&...arguments)
        : matrix_(std::forward<Arguments>(arguments)...), blocks_(matrix_, variant) {}

    Matrix_ matrix_;
    Blocks blocks_;
    std::optional<Matrix<T>> target_;  // kept until it has been read
    bool busy_ = false;
};

template <class T>
class PcgLoop : public Loop<T, SystemMatrix<T>, ColumnBlocks<T>> {
  public:
    // A as symmetric CSR with sorted indices; one weight for each entry above
    // the diagonal, in that order.
    PcgLoop(Vector<int32_t> indptr, Vector<int32_t> indices, Vector<double> data,
            Vector<double> weights, Vector<double> degrees, double lam, double r,
            double relaxation, double rtol, int max_pcg_iterations, const std::string &variant)
        : Loop<T, SystemMatrix<T>, ColumnBlocks<T>>(
              variant, checked(indptr, indices, data, degrees), weights.data(), weights.size(),
              degrees.data(), lam, r, relaxation) {
        this->blocks_.stop_at(rtol, max_pcg_iterations);
    }

  private:
    static SymmetricCsr checked(const Vector<int32_t> &indptr, const Vector<int32_t> &indices,
                                const Vector<double> &data, const Vector<double> &degrees) {
        if (degrees.size() + 1 != indptr.size())
            refuse("each row of the matrix needs a degree");
        return checked_rows(indptr, indices, data);
    }
};

template <class T>
class CholeskyLoop : public Loop<T, FactorisedMatrix<T>, ExactBlocks<T>> {
  public:
    // One weight for each edge that the elimination was made of, and one degree for each node.
    CholeskyLoop(const Elimination &elimination, Vector<double> weights, Vector<double> degrees,
                 double lam, double r, int threads, const std::string &variant)
        : Loop<T, FactorisedMatrix<T>, ExactBlocks<T>>(
              variant, checked(elimination, weights, degrees, threads), weights.data(),
              degrees.data(), lam, r, variant, threads) {}

  private:
    static const Elimination &checked(const Elimination &elimination,
                                      const Vector<double> &weights,
                                      const Vector<double> &degrees, int threads) {
        check_threads(threads);
        if (!elimination.fits()) refuse("the factor has too many entries");
        if (weights.size() != elimination.n_edges() ||
            degrees.size() != static_cast<size_t>(elimination.n()))
            refuse("weights and degrees do not match the elimination");
        return elimination;
    }
};

// The order in which the nodes of a graph are eliminated. Each edge is a pair of different
// nodes; positions are (n, axes), or (n, 0) where they are not known.
Elimination *eliminate_graph(Matrix<int32_t> edges, Matrix<int32_t> positions,
                             int64_t max_entries) {
    const size_t n = positions.shape(0);
    check(n >= 1, "a graph needs a node");
    check(positions.shape(1) <= 16, "positions may have 16 axes at most");
    check_size(2 * n);  // parts are numbered twice: on the way down and up
    check_size(edges.size());
    check_edges(edges, n);
    check_positions(positions);
    nb::gil_scoped_release release;
    return new Elimination(static_cast<int32_t>(n), edges.data(), edges.shape(0),
                           positions.shape(1) ? positions.data() : nullptr,
                           static_cast<int>(positions.shape(1)), max_entries);
}

// L as (indptr, indices, values) by columns, which is L^T by rows, and the pivots.
std::tuple<Result<int32_t, 1>, Result<int32_t, 1>, Result<double, 1>, Result<double, 1>>
incomplete_cholesky(Vector<int32_t> indptr, Vector<int32_t> indices, Vector<double> data,
                    double relaxation) {
    UpperTriangle u = upper_triangle(checked_rows(indptr, indices, data));
    factorise(u, relaxation);
    const size_t entries = u.node.size(), size = static_cast<size_t>(u.size());
    return {to_numpy<int32_t, 1>(std::move(u.row_start), {size + 1}),
            to_numpy<int32_t, 1>(std::move(u.node), {entries}),
            to_numpy<double, 1>(std::move(u.values), {entries}),
            to_numpy<double, 1>(std::move(u.diagonal), {size})};
}

template <class T>
void bind_loops(nb::module_ &m, const char *pcg, const char *cholesky) {
    nb::class_<PcgLoop<T>>(m, pcg)
        .def(nb::init<Vector<int32_t>, Vector<int32_t>, Vector<double>, Vector<double>,
                      Vector<double>, double, double, double, double, int,
                      const std::string &>())
        .def("start", &PcgLoop<T>::start)
        .def("advance", &PcgLoop<T>::advance)
        .def("solution", &PcgLoop<T>::solution);
    nb::class_<CholeskyLoop<T>>(m, cholesky)
        .def(nb::init<const Elimination &, Vector<double>, Vector<double>, double, double, int,
                      const std::string &>(),
             nb::keep_alive<1, 2>(), nb::call_guard<nb::gil_scoped_release>())
        .def("start", &CholeskyLoop<T>::start)
        .def("advance", &CholeskyLoop<T>::advance)
        .def("solution", &CholeskyLoop<T>::solution);
}

}  // namespace

void bind_solver(nb::module_ &m) {
    m.def("incomplete_cholesky", &incomplete_cholesky);
    m.def("best_variant", &best_variant);
    nb::class_<Elimination>(m, "Elimination")
        .def_prop_ro("fits", &Elimination::fits)
        .def_prop_ro("entries", &Elimination::entries);
    m.def("eliminate_graph", &eliminate_graph, nb::rv_policy::take_ownership);
    bind_loops<float>(m, "PcgLoopSingle", "CholeskyLoopSingle");
    bind_loops<double>(m, "PcgLoopDouble", "CholeskyLoopDouble");
}

}  // namespace pfeseg::door
