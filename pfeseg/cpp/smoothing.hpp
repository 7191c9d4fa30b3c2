// Separable filters of images.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "dense_loops.hpp"
#include "mirror.hpp"

namespace pfeseg {

// Correlates an image (height, width, channels) with weights along its columns and then along its
// rows, a row at a time. Beyond its borders it goes on as its mirror image, the outermost values
// repeated; it may be smaller than the weights. Sums run in the order of the weights.
template <class T>
class SeparableFilter {
  public:
    SeparableFilter(const T *image, int64_t height, int64_t width, int64_t channels,
                    std::vector<T> down, std::vector<T> right, const LineLoops<T> &loops)
        : image_(image),
          height_(height),
          width_(width),
          channels_(channels),
          down_(std::move(down)),
          right_(std::move(right)),
          loops_(loops),
          above_(down_.size()),
          shifted_(right_.size()),
          extended_((width + static_cast<int64_t>(right_.size()) - 1) * channels) {}

    void row(int64_t y, T *result) {
        const auto rows = static_cast<int64_t>(down_.size());
        const auto columns = static_cast<int64_t>(right_.size());
        const int64_t margin = columns / 2, size = width_ * channels_;
        for (int64_t k = 0; k < rows; ++k)
            above_[k] = image_ + mirrored(y + k - rows / 2, height_) * size;
        for (int64_t k = 0; k < columns; ++k) shifted_[k] = extended_.data() + k * channels_;
        T *middle = extended_.data() + margin * channels_;
        loops_.weighted_sum(above_.data(), down_.data(), rows, T(0), size, middle);
        for (int64_t k = 0; k < margin; ++k) {
            const T *before = middle + mirrored(-1 - k, width_) * channels_;
            const T *after = middle + mirrored(width_ + k, width_) * channels_;
            std::copy_n(before, channels_, middle - (k + 1) * channels_);
            std::copy_n(after, channels_, middle + (width_ + k) * channels_);
        }
        loops_.weighted_sum(shifted_.data(), right_.data(), columns, T(0), size, result);
    }

  private:
    const T *image_;
    int64_t height_, width_, channels_;
    std::vector<T> down_, right_;
    LineLoops<T> loops_;
    std::vector<const T *> above_, shifted_;
    std::vector<T> extended_;
};

// The responses of row y to filters at some columns, (columns, filters). Each pixel's are
// compressed by the logarithm of their norm.
inline void respond(std::vector<SeparableFilter<float>> &filters, int64_t y, int64_t width,
                    const int32_t *columns, int64_t n_columns, float compression, float *result) {
    const auto count = static_cast<int64_t>(filters.size());
    std::vector<float> row(width);
    for (int64_t f = 0; f < count; ++f) {
        filters[f].row(y, row.data());
        for (int64_t x = 0; x < n_columns; ++x) result[x * count + f] = row[columns[x]];
    }
    for (float *pixel = result; pixel < result + n_columns * count; pixel += count) {
        float squares = 0.0f;
        for (int64_t f = 0; f < count; ++f) squares += pixel[f] * pixel[f];
        const float norm = std::sqrt(squares);
        const float factor = std::log1p(norm / compression) / (norm + 1e-6f);
        for (int64_t f = 0; f < count; ++f) pixel[f] *= factor;
    }
}

}  // namespace pfeseg
