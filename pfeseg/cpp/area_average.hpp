// Shrinking by averages over areas.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "bands.hpp"
#include "brightness.hpp"

namespace pfeseg {

// Which of `large` pixels along a line lie in each of `small` ones, and by how much of them.
class Overlaps {
  public:
    Overlaps(int64_t large, int64_t small) : ratio_(static_cast<double>(large) / small) {
        for (int64_t k = 0; k < small; ++k) {
            begin_.push_back(static_cast<int64_t>(std::floor(edge(k))));
            end_.push_back(std::min(static_cast<int64_t>(std::ceil(edge(k + 1))), large));
        }
    }
    int64_t begin(int64_t k) const { return begin_[k]; }
    int64_t end(int64_t k) const { return end_[k]; }
    double share(int64_t k, int64_t pixel) const {
        const double first = std::max(static_cast<double>(pixel), edge(k));
        return (std::min(static_cast<double>(pixel + 1), edge(k + 1)) - first) / ratio_;
    }

  private:
    double edge(int64_t k) const { return k * ratio_; }

    double ratio_;
    std::vector<int64_t> begin_, end_;
};

// Averages an image (height, width, channels) over the areas of `small_height` x `small_width`
// pixels. Values beyond black and white count as these.
template <class T>
void area_average(const T *image, Brightness<T> brightness, int64_t height, int64_t width,
                  int64_t channels, int64_t small_height, int64_t small_width, int threads,
                  double *result) {
    const Overlaps rows(height, small_height), columns(width, small_width);
    const int64_t length = width * channels;
    std::vector<double> shares;
    for (int64_t k = 0; k < small_width; ++k)
        for (int64_t x = columns.begin(k); x < columns.end(k); ++x)
            shares.push_back(columns.share(k, x));
    const Bands bands(small_height, threads);
    std::vector<std::vector<double>> lines(bands.count(), std::vector<double>(length));
    const auto average_row = [&](int64_t j, double *line) {
        std::fill_n(line, length, 0.0);
        for (int64_t y = rows.begin(j); y < rows.end(j); ++y) {
            const T *in = image + y * length;
            const double share = rows.share(j, y);
            for (int64_t i = 0; i < length; ++i) line[i] += share * brightness.clipped(in[i]);
        }
        const double *share = shares.data();
        double *out = result + j * small_width * channels;
        for (int64_t k = 0; k < small_width; ++k, out += channels) {
            std::fill_n(out, channels, 0.0);
            for (int64_t x = columns.begin(k); x < columns.end(k); ++x, ++share)
                for (int64_t c = 0; c < channels; ++c)
                    out[c] += *share * line[x * channels + c];
        }
    };
    bands.run([&](int band) {
        for (int64_t j = bands.begin(band); j < bands.end(band); ++j)
            average_row(j, lines[band].data());
    });
}

}  // namespace pfeseg
