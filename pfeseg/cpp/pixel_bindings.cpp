// Python door of the kernels that look at pixels and regions.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <stdexcept>
#include <tuple>

#include "colour.hpp"
#include "contrast.hpp"
#include "interpolation.hpp"
#include "kmeans.hpp"
#include "label_maps.hpp"
#include "mixture.hpp"
#include "numpy_arrays.hpp"
#include "region_merging.hpp"
#include "region_sums.hpp"
#include "region_tree.hpp"
#include "smoothing.hpp"
#include "variants.hpp"
#include "watershed.hpp"

namespace pfeseg::door {
namespace {

// CIELAB of an image in sRGB.
template <class T>
Result<float, 3> lab(Image<T> image) {
    const size_t height = image.shape(0), width = image.shape(1);
    if (image.shape(2) != 3) throw std::invalid_argument("an image of three channels is needed");
    std::vector<float> result(image.size());
    {
        nb::gil_scoped_release release;
        to_lab(image.data(), static_cast<int64_t>(height * width), dense_loops(), result.data());
    }
    return to_numpy<float, 3>(std::move(result), {height, width, 3});
}

template <class T>
SeparableFilter<T> filter_of(const Image<T> &image, const Vector<double> &down,
                             const Vector<double> &right, const DenseLoops &loops) {
    if (!image.size() || down.size() % 2 == 0 || right.size() % 2 == 0)
        throw std::invalid_argument("an image that is not empty and odd filters are needed");
    return SeparableFilter<T>(image.data(), image.shape(0), image.shape(1), image.shape(2),
                              std::vector<T>(down.data(), down.data() + down.size()),
                              std::vector<T>(right.data(), right.data() + right.size()),
                              lines_of<T>(loops));
}

// An image filtered along its columns and then along its rows.
template <class T>
Result<T, 3> correlate(Image<T> image, Vector<double> down, Vector<double> right) {
    const size_t height = image.shape(0), width = image.shape(1), channels = image.shape(2);
    SeparableFilter<T> filter = filter_of(image, down, right, dense_loops());
    std::vector<T> result(image.size());
    {
        nb::gil_scoped_release release;
        for (size_t y = 0; y < height; ++y) filter.row(y, result.data() + y * width * channels);
    }
    return to_numpy<T, 3>(std::move(result), {height, width, channels});
}

// Compressed responses to filters (down, right) at rows and columns of an image.
Result<float, 3> filter_responses(Matrix<float> image,
                                  std::vector<std::tuple<Vector<double>, Vector<double>>> bank,
                                  Vector<int32_t> rows, Vector<int32_t> columns,
                                  float compression) {
    const size_t height = image.shape(0), width = image.shape(1);
    if (bank.empty()) throw std::invalid_argument("filters are needed");
    check_numbers(rows.data(), rows.size(), height, "an image has no such row");
    check_numbers(columns.data(), columns.size(), width, "an image has no such column");
    const Image<float> channel(image.data(), {height, width, 1});
    const DenseLoops loops = dense_loops();
    std::vector<SeparableFilter<float>> filters;
    for (const auto &[down, right] : bank)
        filters.push_back(filter_of(channel, down, right, loops));
    const size_t size = columns.size() * filters.size();
    std::vector<float> result(rows.size() * size);
    {
        nb::gil_scoped_release release;
        for (size_t k = 0; k < rows.size(); ++k)
            respond(filters, rows.data()[k], static_cast<int64_t>(width), columns.data(),
                    static_cast<int64_t>(columns.size()), compression, result.data() + k * size);
    }
    return to_numpy<float, 3>(std::move(result), {rows.size(), columns.size(), filters.size()});
}

// The values (h, w, c) at each pair of places along y and x.
template <class T>
Result<T, 3> interpolate(Image<T> values, Vector<double> y, Vector<double> x) {
    const size_t channels = values.shape(2);
    if (!values.size()) throw std::invalid_argument("values that are not empty are needed");
    std::vector<T> result(y.size() * x.size() * channels);
    {
        nb::gil_scoped_release release;
        pfeseg::interpolate(values.data(), values.shape(0), values.shape(1), channels, y.data(),
                            y.size(), x.data(), x.size(), result.data());
    }
    return to_numpy<T, 3>(std::move(result), {y.size(), x.size(), channels});
}

// The basins of all minima of a relief, 0, 1, ...
Result<int32_t, 2> basins(Matrix<float> relief) {
    const size_t height = relief.shape(0), width = relief.shape(1);
    check_size(relief.size());
    std::vector<int32_t> markers(height * width);
    {
        nb::gil_scoped_release release;
        mark_minima(relief.data(), height, width, markers.data());
        flood(relief.data(), height, width, markers.data());
    }
    return to_numpy<int32_t, 2>(std::move(markers), {height, width});
}

// Markers spread over the pixels marked -1.
Result<int32_t, 2> watershed(Matrix<float> relief, Matrix<int32_t> markers) {
    const size_t height = relief.shape(0), width = relief.shape(1);
    if (markers.shape(0) != height || markers.shape(1) != width)
        throw std::invalid_argument("relief and markers must have one shape");
    check_size(relief.size());
    for (size_t k = 0; k < markers.size(); ++k)
        if (markers.data()[k] < -1) throw std::invalid_argument("markers must be -1, 0, 1, ...");
    std::vector<int32_t> result(markers.data(), markers.data() + markers.size());
    {
        nb::gil_scoped_release release;
        flood(relief.data(), height, width, result.data());
    }
    return to_numpy<int32_t, 2>(std::move(result), {height, width});
}

using EdgeMaps = std::tuple<Result<float, 2>, Result<float, 2>>;

// Contrast across the edges of each pixel with its right and with its lower neighbour.
template <class Rows>
EdgeMaps contrast_of(Rows rows, size_t height, size_t width, const std::vector<float> &window,
                     int reach, Distance kind, const DenseLoops &loops) {
    if (!height || !width || reach < 1 || reach % 2 == 0 || reach > 1023)
        throw std::invalid_argument(
            "an image that is not empty and an odd reach below 1024 are needed");
    if (window.size() % 2 == 0) throw std::invalid_argument("the window must be odd");
    std::vector<float> right(height * (width - 1)), down((height - 1) * width);
    {
        nb::gil_scoped_release release;
        EdgeContrast<Rows> contrast(std::move(rows), height, width, window, reach, kind, loops);
        contrast.compare(right.data(), down.data());
    }
    return {to_numpy<float, 2>(std::move(right), {height, width - 1}),
            to_numpy<float, 2>(std::move(down), {height - 1, width})};
}

std::vector<float> single(const Vector<double> &values) {
    return std::vector<float>(values.data(), values.data() + values.size());
}

// Euclidean contrast of the channels `first` ... `last` - 1, smoothed by an even window.
EdgeMaps colour_contrast(Image<float> image, int first, int last, Vector<double> window,
                         int reach) {
    const auto height = image.shape(0), width = image.shape(1), channels = image.shape(2);
    if (first < 0 || last < first || static_cast<size_t>(last) > channels)
        throw std::invalid_argument("there are no such channels");
    const DenseLoops loops = dense_loops();
    return contrast_of(
        ColourRows(image.data(), static_cast<int64_t>(width), static_cast<int64_t>(channels),
                   first, last, single(window), loops),
        height, width, single(window), reach, Distance::euclidean, loops);
}

// Chi-square contrast of the histograms of classes in an even window.
EdgeMaps class_contrast(Matrix<int32_t> classes, int n_classes, Vector<double> window,
                        int reach) {
    const size_t height = classes.shape(0), width = classes.shape(1);
    check_numbers(classes.data(), classes.size(), count_of(n_classes), "there is no such class");
    return contrast_of(
        ClassRows(classes.data(), static_cast<int64_t>(width), n_classes, single(window)),
        height, width, single(window), reach, Distance::chi_square, dense_loops());
}

// The nearest centre of each row, and its squared distance.
template <class T>
std::tuple<Result<int32_t, 1>, Result<T, 1>> nearest_centres(Matrix<T> rows, Matrix<T> centres) {
    const size_t n = rows.shape(0);
    if (centres.shape(1) != rows.shape(1) || !centres.size())
        throw std::invalid_argument("rows and centres must have as many columns");
    std::vector<int32_t> labels(n);
    std::vector<T> distances(n);
    {
        nb::gil_scoped_release release;
        pfeseg::nearest_centres(rows.data(), n, rows.shape(1), centres.data(), centres.shape(0),
                                lines_of<T>(dense_loops()), labels.data(), distances.data());
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
        throw std::invalid_argument("rows that are not empty need a weight each");
    check_numbers(&first, 1, n, "there is no such row");
    const size_t centres = draws.shape(0) + 1;
    std::vector<int32_t> chosen;
    {
        nb::gil_scoped_release release;
        const PointCloud<T> points(rows.data(), n, rows.shape(1), lines_of<T>(dense_loops()));
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
        throw std::invalid_argument("rows, weights and centres do not fit together");
    constexpr int most = 10000;  // labels may come again and again
    if (max_iterations < 0 || max_iterations > most)
        throw std::invalid_argument("there may be 0 to 10000 iterations");
    Clustering<T> found;
    {
        nb::gil_scoped_release release;
        found = pfeseg::improve_centres(rows.data(), n, d, weights.data(),
                                        copied(centres.data(), centres.size()), max_iterations,
                                        enough, lines_of<T>(dense_loops()));
    }
    return {to_numpy<int32_t, 1>(std::move(found.labels), {n}),
            to_numpy<T, 1>(std::move(found.distances), {n}),
            to_numpy<T, 2>(std::move(found.centres), {k, d})};
}

// The posterior, (K, n), its moments, (K, m), and the summed log-likelihood.
std::tuple<Result<double, 2>, Result<double, 2>, double> expectation(
    Matrix<double> monomials, Matrix<double> coefficients) {
    const size_t m = monomials.shape(0), n = monomials.shape(1), components = coefficients.shape(0);
    if (coefficients.shape(1) != m || !components)
        throw std::invalid_argument("each component needs a coefficient of each monomial");
    Expectation found;
    {
        nb::gil_scoped_release release;
        found = expect(monomials.data(), m, n, coefficients.data(), components, dense_loops());
    }
    return {to_numpy<double, 2>(std::move(found.posterior), {components, n}),
            to_numpy<double, 2>(std::move(found.moments), {components, m}),
            found.log_likelihood};
}

template <class T>
Result<int32_t, 1> number_by_appearance(Vector<T> labels) {
    check_size(labels.size());
    std::vector<int32_t> result(labels.size());
    {
        nb::gil_scoped_release release;
        pfeseg::number_by_appearance(labels.data(), labels.size(), result.data());
    }
    return to_numpy<int32_t, 1>(std::move(result), {labels.size()});
}

template <class T>
Result<int32_t, 2> split_regions(Matrix<T> labels) {
    const size_t height = labels.shape(0), width = labels.shape(1);
    check_size(labels.size());
    std::vector<int32_t> regions(height * width);
    {
        nb::gil_scoped_release release;
        pfeseg::split_regions(labels.data(), height, width, regions.data());
    }
    return to_numpy<int32_t, 2>(std::move(regions), {height, width});
}

// Pairs of labels that meet, each edge where they do with the index of its pair, and the number
// of edges of each pair.
std::tuple<Result<int32_t, 2>, Result<int32_t, 2>, Result<double, 1>> meetings(
    Matrix<int32_t> labels, Matrix<int32_t> steps) {
    if (steps.shape(1) != 2) throw std::invalid_argument("steps must have two columns");
    for (size_t k = 0; k < steps.shape(0); ++k)
        if (steps.data()[2 * k] < 0) throw std::invalid_argument("steps must not lead upwards");
    if (labels.size()) check_size(steps.size() / 2 * labels.size());
    for (size_t k = 0; k < labels.size(); ++k)
        if (labels.data()[k] < 0) throw std::invalid_argument("labels must not be negative");
    Meetings found;
    {
        nb::gil_scoped_release release;
        found = find_meetings(labels.data(), labels.shape(0), labels.shape(1), steps.data(),
                              steps.shape(0));
    }
    const size_t count = found.lengths.size(), edges = found.edges.size() / 2;
    return {to_numpy<int32_t, 2>(std::move(found.pairs), {count, 2}),
            to_numpy<int32_t, 2>(std::move(found.edges), {edges, 2}),
            to_numpy<double, 1>(std::move(found.lengths), {count})};
}

// Values over each of n regions, (n, c); those of a smaller image are interpolated.
template <class T>
Result<double, 2> region_sums(Matrix<int32_t> regions, int n, Image<T> values) {
    const size_t count = count_of(n), channels = values.shape(2);
    check_numbers(regions.data(), regions.size(), count, no_region);
    if (!values.size()) throw std::invalid_argument("values that are not empty are needed");
    std::vector<double> sums(count * channels, 0.0);
    {
        nb::gil_scoped_release release;
        sum_over_regions(regions.data(), regions.shape(0), regions.shape(1), values.data(),
                         values.shape(0), values.shape(1), channels, sums.data());
    }
    return to_numpy<double, 2>(std::move(sums), {count, channels});
}

// Pixels of each class in each of n regions, (n, n_classes).
Result<double, 2> class_counts(Matrix<int32_t> regions, int n, Matrix<int32_t> classes,
                               int n_classes) {
    const size_t rows = count_of(n), columns = count_of(n_classes);
    check_numbers(regions.data(), regions.size(), rows, no_region);
    check_numbers(classes.data(), classes.size(), columns, "there is no such class");
    if (!classes.size()) throw std::invalid_argument("classes that are not empty are needed");
    std::vector<double> counts(rows * columns, 0.0);
    {
        nb::gil_scoped_release release;
        count_classes(regions.data(), regions.shape(0), regions.shape(1), classes.data(),
                      classes.shape(0), classes.shape(1), n_classes, counts.data());
    }
    return to_numpy<double, 2>(std::move(counts), {rows, columns});
}

// Values of edges to the right and downwards, at places, by the index of each.
Result<double, 1> edge_sums(Matrix<int32_t> edges, int n, Matrix<float> right,
                            Matrix<float> down) {
    const size_t count = edges.shape(0), size = count_of(n);
    if (edges.shape(1) != 2) throw std::invalid_argument("edges must have two columns");
    check_size(right.size() + down.size());
    for (size_t k = 0; k < count; ++k) {
        check_numbers(&edges.data()[2 * k], 1, right.size() + down.size(), "there is no such edge");
        check_numbers(&edges.data()[2 * k + 1], 1, size, "an index is out of range");
    }
    std::vector<double> sums(size, 0.0);
    {
        nb::gil_scoped_release release;
        sum_over_edges(edges.data(), static_cast<int64_t>(count), right.data(),
                       static_cast<int32_t>(right.size()), down.data(), sums.data());
    }
    return to_numpy<double, 1>(std::move(sums), {size});
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
    check_size(n);
    check_size(m);
    check_numbers(pairs.data(), pairs.size(), n, no_region);
    for (size_t k = 0; k < n; ++k)
        if (!(areas.data()[k] > 0.0)) throw std::invalid_argument("a region has no area");
    std::vector<Group> groups = column_groups(group_ends, comparisons, sums.shape(1));
    Chance chance{copied(plain.data(), features), copied(root.data(), features),
                  copied(cap.data(), features), smaller, larger, bias, speck,
                  coarse, typical};
    std::vector<Merge> merges;
    {
        nb::gil_scoped_release release;
        RegionMerging merging(areas.data(), static_cast<int32_t>(n), sums.data(), sums.shape(1),
                              std::move(groups), pairs.data(), lengths.data(), m,
                              copied(contrasts.data(), contrasts.size()), std::move(chance),
                              dense_loops());
        merges = merging.run();
    }
    return merges_to_numpy(merges);
}

// Which of the merges of regions brings each pair of them together; 0 for a region and itself.
Result<int32_t, 1> joining_merges(Matrix<int32_t> merges, Vector<int32_t> first,
                                  Vector<int32_t> second) {
    const size_t count = merges.shape(0), pairs = first.size();
    if (merges.shape(1) != 2 || second.size() != pairs)
        throw std::invalid_argument("merges and pairs must be of two regions each");
    check_numbers(merges.data(), merges.size(), count + 1, no_region);
    check_numbers(first.data(), pairs, count + 1, no_region);
    check_numbers(second.data(), pairs, count + 1, no_region);
    std::vector<int32_t> result(pairs);
    {
        nb::gil_scoped_release release;
        const MergeOrder order(merges.data(), static_cast<int64_t>(count));
        for (size_t k = 0; k < pairs; ++k)
            result[k] = order.joining(first.data()[k], second.data()[k]);
    }
    return to_numpy<int32_t, 1>(std::move(result), {pairs});
}

// The merges, (kept, absorbed), that join pairs of n regions in their order, and their pairs.
std::tuple<Result<int32_t, 2>, Result<int32_t, 1>> join_pairs(Matrix<int32_t> pairs, int n) {
    if (pairs.shape(1) != 2) throw std::invalid_argument("pairs must have two columns");
    check_numbers(pairs.data(), pairs.size(), count_of(n), no_region);
    Joins made;
    {
        nb::gil_scoped_release release;
        made = join_in_order(pairs.data(), static_cast<int64_t>(pairs.shape(0)), n);
    }
    const size_t count = made.pair.size();
    return {to_numpy<int32_t, 2>(std::move(made.merges), {count, 2}),
            to_numpy<int32_t, 1>(std::move(made.pair), {count})};
}

template <class T>
void bind_numbers(nb::module_ &m) {
    m.def("lab", &lab<T>);
    m.def("correlate", &correlate<T>);
    m.def("interpolate", &interpolate<T>);
    m.def("nearest_centres", &nearest_centres<T>);
    m.def("spread_starts", &spread_starts<T>);
    m.def("improve_centres", &improve_centres<T>);
    m.def("region_sums", &region_sums<T>);
}

template <class T>
void bind_labels(nb::module_ &m) {
    m.def("number_by_appearance", &number_by_appearance<T>);
    m.def("split_regions", &split_regions<T>);
}

}  // namespace

void bind_pixels(nb::module_ &m) {
    bind_numbers<float>(m);
    bind_numbers<double>(m);
    m.def("lab", &lab<uint8_t>);
    bind_labels<int32_t>(m);
    bind_labels<int64_t>(m);
    m.def("filter_responses", &filter_responses);
    m.def("basins", &basins);
    m.def("watershed", &watershed);
    m.def("colour_contrast", &colour_contrast);
    m.def("class_contrast", &class_contrast);
    m.def("expectation", &expectation);
    m.def("meetings", &meetings);
    m.def("class_counts", &class_counts);
    m.def("edge_sums", &edge_sums);
    m.def("merge_regions", &merge_regions);
    m.def("joining_merges", &joining_merges);
    m.def("join_pairs", &join_pairs);
}

}  // namespace pfeseg::door
