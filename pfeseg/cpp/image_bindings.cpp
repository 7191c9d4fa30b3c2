// Python door of the kernels that work on images at their full size.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "area_average.hpp"
#include "brightness.hpp"
#include "door.hpp"
#include "numpy_arrays.hpp"
#include "png_filter.hpp"
#include "redrawing.hpp"
#include "region_sums.hpp"
#include "tinting.hpp"
#include "variants.hpp"

namespace pfeseg::door {
namespace {

// Refuses what a type of pixels has no room for; without limits, both are infinite.
template <class T>
Brightness<T> checked_brightness(double black, double white) {
    const bool wide = std::is_floating_point_v<T> || sizeof(T) > 2;
    for (const double end : {black, white})
        if (std::isnan(end) || (!wide && std::isfinite(end) && std::abs(end) > 1 << 30))
            refuse("black and white must be values that pixels can have");
    return Brightness<T>(black, white);
}

// Averages over the areas of height x width pixels.
template <class T>
Result<double, 3> average_areas(Image<T> image, double black, double white, size_t height,
                                size_t width, int threads) {
    check_threads(threads);
    check(image.shape(2) && height && width && height <= image.shape(0) && width <= image.shape(1),
          "an image can only be shrunk, to a pixel at least");
    const Brightness<T> brightness = checked_brightness<T>(black, white);
    auto result = unwritten<double, 3>({height, width, image.shape(2)});
    double *values = result.data();
    {
        nb::gil_scoped_release release;
        area_average(image.data(), brightness, image.shape(0), image.shape(1),
                     image.shape(2), height, width, threads, values);
    }
    return result;
}

// Connected pieces 0, 1, ... whose boundaries follow the edges of an image.
template <class T>
Result<int32_t, 2> redraw(Matrix<int32_t> pieces, Image<T> image, double black, double white,
                          int reach, Vector<float> gaussian, Vector<float> derivative,
                          int threads) {
    const size_t height = image.shape(0), width = image.shape(1), size = height * width;
    const Brightness<T> brightness = checked_brightness<T>(black, white);
    check_threads(threads);
    if (!size || !image.shape(2) || pieces.shape(0) != height || pieces.shape(1) != width)
        refuse("pieces and image must have one shape");
    size_of({width + gaussian.size(), image.shape(2)});  // of a filtered row
    if (reach < 1 || gaussian.size() % 2 == 0 || gaussian.size() != derivative.size())
        refuse("a reach and two odd filters of one size are needed");
    const auto [least, most] = std::minmax_element(pieces.data(), pieces.data() + size);
    if (*least < 0 || static_cast<size_t>(*most) >= size || size >> 31)
        refuse("pieces must be numbered 0, 1, ..., below 2^31 pixels");
    auto result = unwritten<int32_t, 2>({height, width});
    int32_t *labels = result.data();
    {
        nb::gil_scoped_release release;
        const auto weights = [](const Vector<float> &filter) {
            return std::vector<float>(filter.data(), filter.data() + filter.size());
        };
        redraw_boundaries(pieces.data(), *most + 1, reach, height, width,
                          Gradient<T>(image.data(), brightness, height, width,
                                      image.shape(2), weights(gaussian), weights(derivative)),
                          threads, labels);
    }
    return result;
}

// CIELAB over each of n regions of an image, (n, 3).
template <class T>
Result<double, 2> lab_sums(Matrix<int32_t> regions, int n, Image<T> image, double black,
                           double white) {
    const size_t height = image.shape(0), width = image.shape(1), channels = image.shape(2);
    if (!regions.size() || regions.shape(0) != height || regions.shape(1) != width)
        refuse("regions and image must have one shape, not an empty one");
    if (channels != 1 && channels != 3)
        refuse("an image of one channel or three is needed");
    const Brightness<T> brightness = checked_brightness<T>(black, white);
    const size_t count = count_of(n);
    check_numbers(regions.data(), regions.size(), count, no_region);
    const DenseLoops loops = dense_loops();
    std::vector<double> sums(3 * count, 0.0);
    {
        nb::gil_scoped_release release;
        sum_lab(regions.data(), image.data(), brightness, height, width, channels, loops,
                sums.data());
    }
    return to_numpy<double, 2>(std::move(sums), {count, 3});
}

// `strength` times the brightness of the image and the tint of each label, (labels, 3), as RGB;
// marks are white.
template <class T>
Result<uint8_t, 3> tint_regions(Image<T> image, double black, double white, double strength,
                                Matrix<int32_t> labels, Matrix<float> tints,
                                Matrix<uint8_t> marks) {
    const size_t height = image.shape(0), width = image.shape(1), size = height * width;
    for (const auto &other : {std::pair(labels.shape(0), labels.shape(1)),
                              std::pair(marks.shape(0), marks.shape(1))})
        if (other != std::pair(image.shape(0), image.shape(1)))
            refuse("image, labels and marks must have one shape");
    if (!size || (image.shape(2) != 1 && image.shape(2) != 3) || tints.shape(1) != 3)
        refuse("one channel or three, and tints of three are needed");
    const auto [least, most] = std::minmax_element(labels.data(), labels.data() + size);
    if (*least < 0 || static_cast<size_t>(*most) >= tints.shape(0))
        refuse("each label needs a tint");
    const Brightness<T> brightness = checked_brightness<T>(black, white);
    auto result = unwritten<uint8_t, 3>({height, width, 3});
    uint8_t *picture = result.data();
    {
        nb::gil_scoped_release release;
        draw_tinted(image.data(), brightness, height, width, image.shape(2),
                    strength, labels.data(), tints.data(), marks.data(), picture);
    }
    return result;
}

// Rows of bytes but the first, which is that above them, as PNG files hold them: the number of
// the filter, and what it leaves. `pixel` is the number of bytes of one.
Result<uint8_t, 2> filter_rows(Matrix<uint8_t> rows, size_t pixel) {
    const size_t bytes = rows.shape(1);
    check(rows.shape(0) >= 1 && pixel >= 1, "the row above and a size of pixels are needed");
    check_size(pixel);
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
    const auto any = nb::arg();
    m.def("average_areas", &average_areas<T>, as_it_is, any, any, any, any, any);
    m.def("redraw_boundaries", &redraw<T>, any, as_it_is, any, any, any, any, any, any);
    m.def("lab_sums", &lab_sums<T>, any, any, as_it_is, any, any);
    m.def("tint_regions", &tint_regions<T>, as_it_is, any, any, any, any, any, any);
}

}  // namespace

void bind_images(nb::module_ &m) {
    bind_image<uint8_t>(m);
    bind_image<uint16_t>(m);
    bind_image<uint32_t>(m);
    bind_image<int16_t>(m);
    bind_image<int32_t>(m);
    bind_image<float>(m);
    bind_image<double>(m);
    m.def("filter_rows", &filter_rows);
}

}  // namespace pfeseg::door
