// Python door of the compiled kernels: checks shapes, calls and wraps the results.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "area_average.hpp"
#include "boundary_matching.hpp"
#include "column_blocks.hpp"
#include "contrast.hpp"
#include "elimination.hpp"
#include "exact_blocks.hpp"
#include "incomplete_cholesky.hpp"
#include "png_filter.hpp"
#include "redrawing.hpp"
#include "region_merging.hpp"
#include "smoothing.hpp"
#include "system_matrix.hpp"
#include "tinting.hpp"
#include "variants.hpp"
#include "watershed.hpp"

namespace nb = nanobind;
using namespace pfeseg;

namespace {

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Image = nb::ndarray<const T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
template <class T, int Dims>
using Result = nb::ndarray<nb::numpy, T, nb::ndim<Dims>>;

template <class T, int Dims>
Result<T, Dims> to_numpy(std::vector<T> values, std::initializer_list<size_t> shape) {
    auto *owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void *p) noexcept {
        delete static_cast<std::vector<T> *>(p);
    });
    return Result<T, Dims>(owned->data(), shape, owner);
}

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

void check_pairs(const Matrix<int32_t> &pairs, size_t nodes) {
    for (size_t k = 0; k < pairs.size(); ++k)
        if (pairs.data()[k] < 0 || static_cast<size_t>(pairs.data()[k]) >= nodes)
            throw std::invalid_argument("an edge names a node that does not exist");
}

// A split Bregman loop on blocks of columns: ColumnBlocks or ExactBlocks.
template <class T, class Matrix_, class Blocks>
class Loop {
  public:
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
    advance(int iterations, int threads) {
        const auto rows = static_cast<size_t>(iterations);
        const auto columns = static_cast<size_t>(blocks_.columns());
        std::vector<double> energy(rows * columns), fidelity(rows * columns);
        std::vector<int32_t> pcg(rows * columns), capped(rows * columns);
        run_without_gil([&] {
            return blocks_.advance(iterations, threads,
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

  protected:
    template <class... Arguments>
    Loop(const std::string &variant, Arguments &&...arguments)
        : matrix_(std::forward<Arguments>(arguments)...), blocks_(matrix_, variant) {}

    Matrix_ matrix_;
    Blocks blocks_;
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
              variant,
              SymmetricCsr{static_cast<int32_t>(degrees.size()), indptr.data(), indices.data(),
                           data.data()},
              weights.data(), weights.size(), degrees.data(), lam, r, relaxation) {
        this->blocks_.stop_at(rtol, max_pcg_iterations);
    }
};

template <class T>
class CholeskyLoop : public Loop<T, FactorisedMatrix<T>, ExactBlocks<T>> {
  public:
    // One weight for each edge that the elimination was made of, and one degree for each node.
    CholeskyLoop(const Elimination &elimination, Vector<double> weights, Vector<double> degrees,
                 double lam, double r, int threads, const std::string &variant)
        : Loop<T, FactorisedMatrix<T>, ExactBlocks<T>>(
              variant, checked(elimination, weights, degrees), weights.data(), degrees.data(),
              lam, r, variant, threads) {}

  private:
    static const Elimination &checked(const Elimination &elimination,
                                      const Vector<double> &weights,
                                      const Vector<double> &degrees) {
        if (!elimination.fits()) throw std::invalid_argument("the factor has too many entries");
        if (weights.size() != elimination.n_edges() ||
            degrees.size() != static_cast<size_t>(elimination.n()))
            throw std::invalid_argument("weights and degrees do not match the elimination");
        return elimination;
    }
};

// The order in which the nodes of a graph are eliminated. Each edge is a pair of different
// nodes; positions are (n, axes), or (n, 0) where they are not known.
Elimination *eliminate_graph(Matrix<int32_t> edges, Matrix<int32_t> positions,
                             int64_t max_entries) {
    const size_t n = positions.shape(0);
    if (edges.shape(1) != 2) throw std::invalid_argument("edges must be pairs");
    check_pairs(edges, n);
    nb::gil_scoped_release release;
    return new Elimination(static_cast<int32_t>(n), edges.data(), edges.shape(0),
                           positions.shape(1) ? positions.data() : nullptr,
                           static_cast<int>(positions.shape(1)), max_entries);
}

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

// An image filtered along its columns and then along its rows.
template <class T>
Result<T, 3> correlate(Image<T> image, Vector<double> down, Vector<double> right) {
    const size_t height = image.shape(0), width = image.shape(1), channels = image.shape(2);
    if (!image.size() || down.size() % 2 == 0 || right.size() % 2 == 0)
        throw std::invalid_argument("an image that is not empty and odd filters are needed");
    const std::vector<T> along_y(down.data(), down.data() + down.size());
    const std::vector<T> along_x(right.data(), right.data() + right.size());
    std::vector<T> half(image.size()), result(image.size());
    {
        nb::gil_scoped_release release;
        correlate_axis(image.data(), 1, height, width * channels, along_y, half.data());
        correlate_axis(half.data(), height, width, channels, along_x, result.data());
    }
    return to_numpy<T, 3>(std::move(result), {height, width, channels});
}

// The basins of all minima of a relief, 1, 2, ...
Result<int32_t, 2> basins(Matrix<float> relief) {
    const size_t height = relief.shape(0), width = relief.shape(1);
    std::vector<int32_t> markers(height * width);
    {
        nb::gil_scoped_release release;
        mark_minima(relief.data(), height, width, markers.data());
        flood(relief.data(), height, width, markers.data());
    }
    return to_numpy<int32_t, 2>(std::move(markers), {height, width});
}

// Markers spread over the pixels marked 0.
Result<int32_t, 2> watershed(Matrix<float> relief, Matrix<int32_t> markers) {
    const size_t height = relief.shape(0), width = relief.shape(1);
    if (markers.shape(0) != height || markers.shape(1) != width)
        throw std::invalid_argument("relief and markers must have one shape");
    std::vector<int32_t> result(markers.data(), markers.data() + markers.size());
    {
        nb::gil_scoped_release release;
        flood(relief.data(), height, width, result.data());
    }
    return to_numpy<int32_t, 2>(std::move(result), {height, width});
}

// Contrast across the edges of each pixel with its right and with its lower neighbour.
std::tuple<Result<float, 2>, Result<float, 2>> oriented_contrast(
    Image<float> image, int reach, bool chi_square) {
    const size_t height = image.shape(0), width = image.shape(1);
    if (!height || !width || reach < 1 || reach % 2 == 0)
        throw std::invalid_argument("an image that is not empty and an odd reach are needed");
    std::vector<float> right(height * (width - 1)), down((height - 1) * width);
    const Distance kind = chi_square ? Distance::chi_square : Distance::euclidean;
    const auto channels = static_cast<int>(image.shape(2));
    {
        nb::gil_scoped_release release;
        edge_contrast(image.data(), height, width, channels, reach, kind, true, right.data());
        edge_contrast(image.data(), height, width, channels, reach, kind, false, down.data());
    }
    return {to_numpy<float, 2>(std::move(right), {height, width - 1}),
            to_numpy<float, 2>(std::move(down), {height - 1, width})};
}

template <class T>
std::vector<T> copied(const T *values, size_t size) {
    return std::vector<T>(values, values + size);
}

// Groups of adjacent columns, each from where the one before it ends.
std::vector<Group> column_groups(const Vector<int32_t> &ends,
                                 const Vector<int32_t> &comparisons, size_t columns) {
    std::vector<Group> groups;
    int32_t first = 0;
    for (size_t k = 0; k < ends.size(); ++k) {
        const int32_t last = ends.data()[k];
        if (last < first || static_cast<size_t>(last) > columns)
            throw std::invalid_argument("a group of columns does not exist");
        if (comparisons.data()[k] < 0 || comparisons.data()[k] > 2)
            throw std::invalid_argument("there is no such comparison of regions");
        groups.push_back({first, last, static_cast<Comparison>(comparisons.data()[k])});
        first = last;
    }
    return groups;
}

// Each merge as (kept, absorbed), and its height.
std::tuple<Result<int32_t, 2>, Result<double, 1>> merges_to_numpy(
    const std::vector<Merge> &merges) {
    std::vector<int32_t> regions;
    std::vector<double> heights;
    for (const Merge &merge : merges) {
        regions.insert(regions.end(), {merge.kept, merge.absorbed});
        heights.push_back(merge.height);
    }
    const size_t count = heights.size();
    return {to_numpy<int32_t, 2>(std::move(regions), {count, 2}),
            to_numpy<double, 1>(std::move(heights), {count})};
}

std::tuple<Result<int32_t, 2>, Result<double, 1>> merge_regions(
    Vector<double> areas, Matrix<double> sums, Vector<int32_t> group_ends,
    Vector<int32_t> comparisons, Matrix<int32_t> pairs, Vector<double> lengths,
    Matrix<double> contrasts, Vector<double> plain, Vector<double> root, Vector<double> cap,
    double smaller, double larger, double bias, double speck, double coarse,
    double typical) {
    const size_t n = areas.size(), m = lengths.size();
    if (sums.shape(0) != n || pairs.shape(0) != m || pairs.shape(1) != 2 ||
        contrasts.shape(0) != m || comparisons.size() != group_ends.size())
        throw std::invalid_argument("the arrays of regions and edges do not fit together");
    const size_t features = contrasts.shape(1) + group_ends.size() + 2;
    if (plain.size() != features || root.size() != features || cap.size() != features)
        throw std::invalid_argument("each feature of a pair needs two weights and a cap");
    check_pairs(pairs, n);
    std::vector<Group> groups = column_groups(group_ends, comparisons, sums.shape(1));
    Chance chance{copied(plain.data(), features), copied(root.data(), features),
                  copied(cap.data(), features), smaller, larger, bias, speck,
                  coarse, typical};
    std::vector<Merge> merges;
    {
        nb::gil_scoped_release release;
        RegionMerging merging(copied(areas.data(), n), copied(sums.data(), sums.size()),
                              std::move(groups), copied(pairs.data(), 2 * m),
                              copied(lengths.data(), m),
                              copied(contrasts.data(), contrasts.size()), std::move(chance));
        merges = merging.run();
    }
    return merges_to_numpy(merges);
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

// An array to be written in full, which is not filled with zeros first.
template <class T, int Dims>
Result<T, Dims> unwritten(std::initializer_list<size_t> shape) {
    size_t size = 1;
    for (const size_t side : shape) size *= side;
    T *values = new T[size];
    nb::capsule owner(values, [](void *p) noexcept { delete[] static_cast<T *>(p); });
    return Result<T, Dims>(values, shape, owner);
}

// Averages over the areas of height x width pixels.
template <class T>
Result<double, 3> average_areas(Image<T> image, size_t height, size_t width, int threads) {
    if (!height || !width || height > image.shape(0) || width > image.shape(1))
        throw std::invalid_argument("an image can only be shrunk, to a pixel at least");
    auto result = unwritten<double, 3>({height, width, image.shape(2)});
    double *values = result.data();
    {
        nb::gil_scoped_release release;
        area_average(image.data(), image.shape(0), image.shape(1), image.shape(2), height, width,
                     threads, values);
    }
    return result;
}

// Connected pieces 0, 1, ... whose boundaries follow the edges of an image.
template <class T>
Result<int32_t, 2> redraw(Matrix<int32_t> pieces, Image<T> image, int reach,
                          Vector<float> gaussian, Vector<float> derivative, int threads) {
    const size_t height = image.shape(0), width = image.shape(1), size = height * width;
    if (!size || pieces.shape(0) != height || pieces.shape(1) != width)
        throw std::invalid_argument("pieces and image must have one shape");
    if (reach < 1 || gaussian.size() % 2 == 0 || gaussian.size() != derivative.size())
        throw std::invalid_argument("a reach and two odd filters of one size are needed");
    const auto [least, most] = std::minmax_element(pieces.data(), pieces.data() + size);
    if (*least < 0 || static_cast<size_t>(*most) >= size || size >> 31)
        throw std::invalid_argument("pieces must be numbered 0, 1, ..., below 2^31 pixels");
    auto result = unwritten<int32_t, 2>({height, width});
    int32_t *labels = result.data();
    {
        nb::gil_scoped_release release;
        const auto weights = [](const Vector<float> &filter) {
            return std::vector<float>(filter.data(), filter.data() + filter.size());
        };
        redraw_boundaries(pieces.data(), *most + 1, reach, height, width,
                          Gradient<T>(image.data(), height, width, image.shape(2),
                                      weights(gaussian), weights(derivative)),
                          threads, labels);
    }
    return result;
}

// The image, `share` of it, and the tint of each label, (labels, 3), as RGB; marks are white.
template <class T>
Result<uint8_t, 3> tint_regions(Image<T> image, float share, Matrix<int32_t> labels,
                                Matrix<float> tints, Matrix<uint8_t> marks) {
    const size_t height = image.shape(0), width = image.shape(1), size = height * width;
    for (const auto &other : {std::pair(labels.shape(0), labels.shape(1)),
                              std::pair(marks.shape(0), marks.shape(1))})
        if (other != std::pair(image.shape(0), image.shape(1)))
            throw std::invalid_argument("image, labels and marks must have one shape");
    if (!size || (image.shape(2) != 1 && image.shape(2) != 3) || tints.shape(1) != 3)
        throw std::invalid_argument("one channel or three, and tints of three are needed");
    const auto [least, most] = std::minmax_element(labels.data(), labels.data() + size);
    if (*least < 0 || static_cast<size_t>(*most) >= tints.shape(0))
        throw std::invalid_argument("each label needs a tint");
    auto result = unwritten<uint8_t, 3>({height, width, 3});
    uint8_t *picture = result.data();
    {
        nb::gil_scoped_release release;
        draw_tinted(image.data(), height, width, image.shape(2), share, labels.data(),
                    tints.data(), marks.data(), picture);
    }
    return result;
}

// Rows of bytes but the first, which is that above them, as PNG files hold them: the number of
// the filter, and what it leaves. `pixel` is the number of bytes of one.
Result<uint8_t, 2> filter_rows(Matrix<uint8_t> rows, size_t pixel) {
    const size_t bytes = rows.shape(1);
    if (rows.shape(0) < 1 || pixel < 1)
        throw std::invalid_argument("the row above and a size of pixels are needed");
    const size_t count = rows.shape(0) - 1;
    auto result = unwritten<uint8_t, 2>({count, bytes + 1});
    uint8_t *filtered = result.data();
    {
        nb::gil_scoped_release release;
        for (size_t y = 0; y < count; ++y) {
            uint8_t *row = filtered + y * (bytes + 1);
            const uint8_t *above = rows.data() + y * bytes;
            *row = paeth_filter;
            filter_row(above + bytes, above, bytes, pixel, row + 1);
        }
    }
    return result;
}

template <class T>
void bind_image(nb::module_ &m) {
    // Or the first of the types would be taken where another argument has to be converted.
    const auto as_it_is = nb::arg().noconvert();
    m.def("average_areas", &average_areas<T>, as_it_is, nb::arg(), nb::arg(), nb::arg());
    m.def("redraw_boundaries", &redraw<T>, nb::arg(), as_it_is, nb::arg(), nb::arg(), nb::arg(),
          nb::arg());
    m.def("tint_regions", &tint_regions<T>, as_it_is, nb::arg(), nb::arg(), nb::arg(), nb::arg());
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
             nb::keep_alive<1, 2>())
        .def("start", &CholeskyLoop<T>::start)
        .def("advance", &CholeskyLoop<T>::advance)
        .def("solution", &CholeskyLoop<T>::solution);
}

}  // namespace

NB_MODULE(_kernels, m) {
    m.def("incomplete_cholesky", &incomplete_cholesky);
    m.def("best_variant", &best_variant);
    m.def("correlate", &correlate<float>);
    m.def("correlate", &correlate<double>);
    m.def("basins", &basins);
    m.def("watershed", &watershed);
    m.def("oriented_contrast", &oriented_contrast);
    m.def("merge_regions", &merge_regions);
    m.def("match_boundaries", &match_boundaries);
    nb::class_<Elimination>(m, "Elimination")
        .def_prop_ro("fits", &Elimination::fits)
        .def_prop_ro("entries", &Elimination::entries);
    m.def("eliminate_graph", &eliminate_graph, nb::rv_policy::take_ownership);
    bind_loops<float>(m, "PcgLoopSingle", "CholeskyLoopSingle");
    bind_loops<double>(m, "PcgLoopDouble", "CholeskyLoopDouble");
    bind_image<uint8_t>(m);
    bind_image<uint16_t>(m);
    bind_image<float>(m);
    bind_image<double>(m);
    m.def("filter_rows", &filter_rows);
}
