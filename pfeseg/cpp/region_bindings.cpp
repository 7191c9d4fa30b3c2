// Python door of label maps, and of regions: where they come from, meet and merge.
#include <nanobind/stl/tuple.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <tuple>
#include <utility>
#include <vector>

#include "boundary_matching.hpp"
#include "door.hpp"
#include "label_maps.hpp"
#include "numpy_arrays.hpp"
#include "region_merging.hpp"
#include "region_sums.hpp"
#include "region_tree.hpp"
#include "variants.hpp"
#include "watershed.hpp"

namespace pfeseg::door {
namespace {

// Labels 0, 1, ... in order of first appearance.
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

// The connected regions of equal labels, 0, 1, ...
template <class T>
Result<int32_t, 2> split_regions(Matrix<T> labels) {
    const size_t height = labels.shape(0), width = labels.shape(1);
    check_size(labels.size());
    check_size(height);
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
    if (steps.shape(1) != 2) refuse("steps must have two columns");
    for (size_t k = 0; k < steps.shape(0); ++k)
        if (steps.data()[2 * k] < 0) refuse("steps must not lead upwards");
    if (labels.size()) check_size(size_of({steps.shape(0), labels.size()}));
    check_size(size_of({steps.shape(0), labels.shape(0)}));
    for (size_t k = 0; k < labels.size(); ++k)
        if (labels.data()[k] < 0) refuse("labels must not be negative");
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
        refuse("relief and markers must have one shape");
    check_size(relief.size());
    for (size_t k = 0; k < markers.size(); ++k)
        if (markers.data()[k] < -1) refuse("markers must be -1, 0, 1, ...");
    std::vector<int32_t> result(markers.data(), markers.data() + markers.size());
    {
        nb::gil_scoped_release release;
        flood(relief.data(), height, width, result.data());
    }
    return to_numpy<int32_t, 2>(std::move(result), {height, width});
}

// Values over each of n regions, (n, c); those of a smaller image are interpolated.
template <class T>
Result<double, 2> region_sums(Matrix<int32_t> regions, int n, Image<T> values) {
    const size_t count = count_of(n), channels = values.shape(2);
    check_numbers(regions.data(), regions.size(), count, no_region);
    check(regions.size() && values.size(), "regions and values that are not empty are needed");
    std::vector<double> sums(size_of({count, channels}), 0.0);
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
    check(regions.size() && classes.size(), "regions and classes that are not empty are needed");
    std::vector<double> counts(size_of({rows, columns}), 0.0);
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
    if (edges.shape(1) != 2) refuse("edges must have two columns");
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
            refuse("a group of columns does not exist");
        if (comparisons.data()[k] < 0 || comparisons.data()[k] > 2)
            refuse("there is no such comparison of regions");
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
        refuse("the arrays of regions and edges do not fit together");
    const size_t features = contrasts.shape(1) + group_ends.size() + 2;
    if (plain.size() != features || root.size() != features || cap.size() != features)
        refuse("each feature of a pair needs two weights and a cap");
    check_size(n);
    check_size(m);
    check_numbers(pairs.data(), pairs.size(), n, no_region);
    for (size_t k = 0; k < n; ++k)
        if (!(areas.data()[k] > 0.0)) refuse("a region has no area");
    std::vector<Group> groups = column_groups(group_ends, comparisons, sums.shape(1));
    Chance chance{copied(plain.data(), features), copied(root.data(), features),
                  copied(cap.data(), features), smaller, larger, bias, speck,
                  coarse, typical};
    const DenseLoops loops = dense_loops();
    std::vector<Merge> merges;
    {
        nb::gil_scoped_release release;
        RegionMerging merging(areas.data(), static_cast<int32_t>(n), sums.data(), sums.shape(1),
                              std::move(groups), pairs.data(), lengths.data(), m,
                              copied(contrasts.data(), contrasts.size()), std::move(chance),
                              loops);
        merges = merging.run();
    }
    return merges_to_numpy(merges);
}

// Which of the merges of regions brings each pair of them together; 0 for a region and itself.
Result<int32_t, 1> joining_merges(Matrix<int32_t> merges, Vector<int32_t> first,
                                  Vector<int32_t> second) {
    const size_t count = merges.shape(0), pairs = first.size();
    if (merges.shape(1) != 2 || second.size() != pairs)
        refuse("merges and pairs must be of two regions each");
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
    if (pairs.shape(1) != 2) refuse("pairs must have two columns");
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

// The marks that are matched with a pixel of the truth, by offsets (dy, dx), nearest first.
Result<uint8_t, 2> match_boundaries(Matrix<uint8_t> marks, Matrix<uint8_t> truth,
                                    Matrix<int32_t> offsets) {
    const size_t height = marks.shape(0), width = marks.shape(1);
    if (truth.shape(0) != height || truth.shape(1) != width || offsets.shape(1) != 2)
        refuse("both maps must have one shape, and offsets two columns");
    check_size(height * width);
    for (size_t k = 0; k < offsets.size(); ++k)
        if (std::abs(int64_t{offsets.data()[k]}) >> 30)
            refuse("offsets must be less than 2^30");
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
void bind_labels(nb::module_ &m) {
    m.def("number_by_appearance", &number_by_appearance<T>);
    m.def("split_regions", &split_regions<T>);
}

}  // namespace

void bind_regions(nb::module_ &m) {
    bind_labels<int32_t>(m);
    bind_labels<int64_t>(m);
    m.def("meetings", &meetings);
    m.def("basins", &basins);
    m.def("watershed", &watershed);
    m.def("region_sums", &region_sums<float>);
    m.def("region_sums", &region_sums<double>);
    m.def("class_counts", &class_counts);
    m.def("edge_sums", &edge_sums);
    m.def("merge_regions", &merge_regions);
    m.def("joining_merges", &joining_merges);
    m.def("join_pairs", &join_pairs);
    m.def("match_boundaries", &match_boundaries);
}

}  // namespace pfeseg::door
