// Sums over the pixels of regions and along their boundaries.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "interpolation.hpp"

namespace pfeseg {

// Adds up values (small_height, small_width, channels) over each region, (regions, channels). The
// values of a smaller image are interpolated between the centres of its pixels.
template <class T>
void sum_over_regions(const int32_t *regions, int64_t height, int64_t width, const T *values,
                      int64_t small_height, int64_t small_width, int64_t channels, double *sums) {
    const std::vector<Between> rows = between_centres(small_height, height);
    const std::vector<Between> columns = between_centres(small_width, width);
    const bool as_they_are = small_height == height && small_width == width;
    std::vector<T> line(small_width * channels), found(width * channels);
    for (int64_t y = 0; y < height; ++y) {
        const T *row = values + y * small_width * channels;
        if (!as_they_are) {
            mix_rows(values, rows[y], small_width * channels, line.data());
            mix_columns(line.data(), columns, channels, found.data());
            row = found.data();
        }
        for (int64_t x = 0; x < width; ++x) {
            double *sum = sums + regions[y * width + x] * channels;
            for (int64_t c = 0; c < channels; ++c) sum[c] += row[x * channels + c];
        }
    }
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
