// Shrinking by averages over areas.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

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
// pixels.
template <class T>
void area_average(const T *image, int64_t height, int64_t width, int64_t channels,
                  int64_t small_height, int64_t small_width, double *result) {
    const Overlaps rows(height, small_height), columns(width, small_width);
    const int64_t length = width * channels;
    std::vector<double> line(length), shares;
    for (int64_t k = 0; k < small_width; ++k)
        for (int64_t x = columns.begin(k); x < columns.end(k); ++x)
            shares.push_back(columns.share(k, x));
    for (int64_t j = 0; j < small_height; ++j) {
        std::fill(line.begin(), line.end(), 0.0);
        for (int64_t y = rows.begin(j); y < rows.end(j); ++y) {
            const T *in = image + y * length;
            const double share = rows.share(j, y);
            for (int64_t i = 0; i < length; ++i) line[i] += share * in[i];
        }
        const double *share = shares.data();
        for (int64_t k = 0; k < small_width; ++k, result += channels) {
            std::fill_n(result, channels, 0.0);
            for (int64_t x = columns.begin(k); x < columns.end(k); ++x, ++share)
                for (int64_t c = 0; c < channels; ++c)
                    result[c] += *share * line[x * channels + c];
        }
    }
}

}  // namespace pfeseg
