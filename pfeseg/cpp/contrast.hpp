// Contrast of the two sides of every pixel edge, over several orientations.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace pfeseg {

enum class Distance { euclidean, chi_square };

// Eight sums side by side, which the compiler can keep in vectors.
template <class Term>
float sum_of(int channels, Term term) {
    float partial[8] = {};
    int k = 0;
    for (; k + 8 <= channels; k += 8)
        for (int lane = 0; lane < 8; ++lane) partial[lane] += term(k + lane);
    for (; k < channels; ++k) partial[0] += term(k);
    return ((partial[0] + partial[1]) + (partial[2] + partial[3])) +
           ((partial[4] + partial[5]) + (partial[6] + partial[7]));
}

inline float distance_of(const float *p, const float *q, int channels, Distance kind) {
    if (kind == Distance::euclidean)
        return std::sqrt(
            sum_of(channels, [&](int k) { return (p[k] - q[k]) * (p[k] - q[k]); }));
    return 0.5f * sum_of(channels, [&](int k) {
        return (p[k] - q[k]) * (p[k] - q[k]) / (p[k] + q[k] + 1e-6f);
    });
}

// For the edge of each pixel with its right (or lower) neighbour: the greatest
// distance between the channels at two points that lie opposite each other
// across the middle of the edge, `reach` / 2 pixels away from it, along the
// edge's normal and 45 degrees to either side of it. `reach` is odd, so that
// the points of the normal are pixels; those of the diagonals are rounded.
inline void edge_contrast(const float *image, int64_t height, int64_t width, int channels,
                          int reach, Distance kind, bool to_the_right, float *result) {
    const double diagonal = reach / 2.0 / std::sqrt(2.0);
    const int64_t steps[3][2] = {  // along the normal, across it
        {(reach + 1) / 2, 0},
        {static_cast<int64_t>(std::ceil(diagonal)), std::llround(diagonal)},
        {static_cast<int64_t>(std::ceil(diagonal)), -std::llround(diagonal)}};
    const auto pixel = [&](int64_t y, int64_t x) {
        y = std::clamp<int64_t>(y, 0, height - 1);
        x = std::clamp<int64_t>(x, 0, width - 1);
        return image + (y * width + x) * channels;
    };
    const int64_t rows = to_the_right ? height : height - 1;
    const int64_t columns = to_the_right ? width - 1 : width;
    for (int64_t y = 0; y < rows; ++y)
        for (int64_t x = 0; x < columns; ++x) {
            float best = 0.0f;
            for (const auto &[along, across] : steps) {
                const float *before = to_the_right ? pixel(y - across, x - along + 1)
                                                   : pixel(y - along + 1, x - across);
                const float *behind = to_the_right ? pixel(y + across, x + along)
                                                   : pixel(y + along, x + across);
                best = std::max(best, distance_of(before, behind, channels, kind));
            }
            result[y * columns + x] = best;
        }
}

}  // namespace pfeseg
