// Linear interpolation on grids.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace pfeseg {

// A place on a line of values: between two of them, and the share of the second.
struct Between {
    int64_t before, after;
    double share;
};

// Beyond the ends, the place of the end; what is no number is at the first.
inline Between between(double place, int64_t size) {
    const double inside = place > 0.0 ? std::min(place, static_cast<double>(size - 1)) : 0.0;
    const int64_t before =
        std::min(static_cast<int64_t>(inside), std::max<int64_t>(size - 2, 0));
    return {before, std::min(before + 1, size - 1), inside - static_cast<double>(before)};
}

// The centres of `large` pixels on a line of `small` ones.
inline std::vector<Between> between_centres(int64_t small, int64_t large) {
    std::vector<Between> places;
    for (int64_t k = 0; k < large; ++k)
        places.push_back(between((k + 0.5) * small / large - 0.5, small));
    return places;
}

template <class T>
void mix_rows(const T *values, const Between &at, int64_t size, T *result) {
    const T *before = values + at.before * size, *after = values + at.after * size;
    const T share = static_cast<T>(at.share), rest = 1 - share;
    for (int64_t i = 0; i < size; ++i) result[i] = rest * before[i] + share * after[i];
}

template <class T>
void mix_columns(const T *row, const std::vector<Between> &places, int64_t channels, T *result) {
    for (const Between &at : places) {
        const T *before = row + at.before * channels, *after = row + at.after * channels;
        const T share = static_cast<T>(at.share), rest = 1 - share;
        for (int64_t c = 0; c < channels; ++c) *result++ = rest * before[c] + share * after[c];
    }
}

// The values (height, width, channels) at each pair of places along y and x.
template <class T>
void interpolate(const T *values, int64_t height, int64_t width, int64_t channels,
                 const double *y, int64_t rows, const double *x, int64_t columns, T *result) {
    std::vector<Between> places;
    for (int64_t k = 0; k < columns; ++k) places.push_back(between(x[k], width));
    std::vector<T> line(width * channels);
    for (int64_t k = 0; k < rows; ++k) {
        mix_rows(values, between(y[k], height), width * channels, line.data());
        mix_columns(line.data(), places, channels, result + k * columns * channels);
    }
}

}  // namespace pfeseg
