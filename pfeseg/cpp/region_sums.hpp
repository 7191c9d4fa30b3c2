// Sums over the pixels of regions and along their boundaries.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "brightness.hpp"
#include "colour.hpp"
#include "dense_loops.hpp"
#include "interpolation.hpp"

namespace pfeseg {

// Adds up values over each region, (regions, channels); values(y) are those of a row of the image,
// (width, channels).
template <class Values>
void sum_rows(const int32_t *regions, int64_t height, int64_t width, int64_t channels,
              Values values, double *sums) {
    for (int64_t y = 0; y < height; ++y) {
        const auto *row = values(y);
        for (int64_t x = 0; x < width; ++x) {
            double *sum = sums + regions[y * width + x] * channels;
            for (int64_t c = 0; c < channels; ++c) sum[c] += row[x * channels + c];
        }
    }
}

// The same for values (small_height, small_width, channels). Those of a smaller image are
// interpolated between the centres of its pixels.
template <class T>
void sum_over_regions(const int32_t *regions, int64_t height, int64_t width, const T *values,
                      int64_t small_height, int64_t small_width, int64_t channels, double *sums) {
    const std::vector<Between> rows = between_centres(small_height, height);
    const std::vector<Between> columns = between_centres(small_width, width);
    const bool as_they_are = small_height == height && small_width == width;
    std::vector<T> line(small_width * channels), found(width * channels);
    const auto row = [&](int64_t y) -> const T * {
        if (as_they_are) return values + y * width * channels;
        mix_rows(values, rows[y], small_width * channels, line.data());
        mix_columns(line.data(), columns, channels, found.data());
        return found.data();
    };
    sum_rows(regions, height, width, channels, row, sums);
}

// The same for the colours of an image, (regions, 3) of CIELAB. It has one channel or three.
template <class T>
void sum_lab(const int32_t *regions, const T *image, Brightness<T> brightness, int64_t height,
             int64_t width, int64_t channels, const DenseLoops &loops, double *sums) {
    std::vector<double> rgb(3 * width);
    std::vector<float> lab(3 * width);
    const auto row = [&](int64_t y) -> const float * {
        const T *in = image + y * width * channels;
        for (int64_t x = 0; x < width; ++x)
            for (int64_t c = 0; c < 3; ++c)
                rgb[3 * x + c] = brightness.unit(in[channels == 3 ? 3 * x + c : x]);
        to_lab(rgb.data(), width, loops, lab.data());
        return lab.data();
    };
    sum_rows(regions, height, width, 3, row, sums);
}

// Counts the pixels of each class in each region, (regions, n_classes); each pixel has the class
// of a smaller image in which its centre lies.
inline void count_classes(const int32_t *regions, int64_t height, int64_t width,
                          const int32_t *classes, int64_t small_height, int64_t small_width,
                          int64_t n_classes, double *counts) {
    std::vector<int64_t> column(width);
    for (int64_t x = 0; x < width; ++x) column[x] = (2 * x + 1) * small_width / (2 * width);
    for (int64_t y = 0; y < height; ++y) {
        const int32_t *row = classes + (2 * y + 1) * small_height / (2 * height) * small_width;
        for (int64_t x = 0; x < width; ++x)
            counts[regions[y * width + x] * n_classes + row[column[x]]] += 1.0;
    }
}

// Adds up the values of edges, (count, 2) of place and index, by their index. Places in `right`,
// of so many values, come first.
inline void sum_over_edges(const int32_t *edges, int64_t count, const float *right,
                           int32_t n_right, const float *down, double *sums) {
    for (int64_t k = 0; k < count; ++k) {
        const int32_t place = edges[2 * k];
        sums[edges[2 * k + 1]] += place < n_right ? right[place] : down[place - n_right];
    }
}

}  // namespace pfeseg
