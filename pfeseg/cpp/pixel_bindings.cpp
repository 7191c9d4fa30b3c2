// Python door of the kernels that look at the pixels of an image: colours, filters, contrasts.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "colour.hpp"
#include "contrast.hpp"
#include "door.hpp"
#include "interpolation.hpp"
#include "numpy_arrays.hpp"
#include "smoothing.hpp"
#include "variants.hpp"

namespace pfeseg::door {
namespace {

// CIELAB of an image in sRGB.
template <class T>
Result<float, 3> lab(Image<T> image) {
    const size_t height = image.shape(0), width = image.shape(1);
    check(image.shape(2) == 3, "an image of three channels is needed");
    const DenseLoops loops = dense_loops();
    std::vector<float> result(image.size());
    {
        nb::gil_scoped_release release;
        to_lab(image.data(), static_cast<int64_t>(height * width), loops, result.data());
    }
    return to_numpy<float, 3>(std::move(result), {height, width, 3});
}

template <class T>
SeparableFilter<T> filter_of(const Image<T> &image, const Vector<double> &down,
                             const Vector<double> &right, const DenseLoops &loops) {
    if (!image.size() || down.size() % 2 == 0 || right.size() % 2 == 0)
        refuse("an image that is not empty and odd filters are needed");
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
    if (bank.empty()) refuse("filters are needed");
    const size_t responses = size_of({rows.size(), columns.size(), bank.size()});
    check_numbers(rows.data(), rows.size(), height, "an image has no such row");
    check_numbers(columns.data(), columns.size(), width, "an image has no such column");
    const Image<float> channel(image.data(), {height, width, 1});
    const DenseLoops loops = dense_loops();
    std::vector<SeparableFilter<float>> filters;
    for (const auto &[down, right] : bank)
        filters.push_back(filter_of(channel, down, right, loops));
    const size_t size = columns.size() * filters.size();
    std::vector<float> result(responses);
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
    if (!values.size()) refuse("values that are not empty are needed");
    std::vector<T> result(size_of({y.size(), x.size(), channels}));
    {
        nb::gil_scoped_release release;
        pfeseg::interpolate(values.data(), values.shape(0), values.shape(1), channels, y.data(),
                            y.size(), x.data(), x.size(), result.data());
    }
    return to_numpy<T, 3>(std::move(result), {y.size(), x.size(), channels});
}

using EdgeMaps = std::tuple<Result<float, 2>, Result<float, 2>>;

// Contrast across the edges of each pixel with its right and with its lower neighbour.
template <class Rows>
EdgeMaps contrast_of(Rows rows, size_t height, size_t width, const std::vector<float> &window,
                     int reach, Distance kind, const DenseLoops &loops) {
    if (!height || !width || reach < 1 || reach % 2 == 0 || reach > 1023)
        refuse(
            "an image that is not empty and an odd reach below 1024 are needed");
    if (window.size() % 2 == 0) refuse("the window must be odd");
    // Of what is kept of a strip at a time, and more.
    size_of({static_cast<size_t>(rows.channels()), window.size() + 4096, window.size() + 4096});
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
    check(image.size() != 0, "an image that is not empty is needed");
    if (first < 0 || last < first || static_cast<size_t>(last) > channels)
        refuse("there are no such channels");
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

template <class T>
void bind_numbers(nb::module_ &m) {
    m.def("lab", &lab<T>);
    m.def("correlate", &correlate<T>);
    m.def("interpolate", &interpolate<T>);
}

}  // namespace

void bind_pixels(nb::module_ &m) {
    bind_numbers<float>(m);
    bind_numbers<double>(m);
    m.def("lab", &lab<uint8_t>);
    m.def("filter_responses", &filter_responses);
    m.def("colour_contrast", &colour_contrast);
    m.def("class_contrast", &class_contrast);
}

}  // namespace pfeseg::door
