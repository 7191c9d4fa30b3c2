// Contrast of the two sides of every pixel edge, over several orientations.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "dense_loops.hpp"

namespace pfeseg {

enum class Distance { euclidean, chi_square };

// For the edge of each pixel with its right (or lower) neighbour: the greatest
// distance between the channels at two points that lie opposite each other
// across the middle of the edge, `reach` / 2 pixels away from it, along the
// edge's normal and 45 degrees to either side of it. `reach` is odd, so that
// the points of the normal are pixels; those of the diagonals are rounded.
class EdgeContrast {
  public:
    // image: (height, width, channels).
    EdgeContrast(const float *image, int64_t height, int64_t width, int64_t channels, int reach,
                 Distance kind, const DenseLoops &loops)
        : height_(height),
          width_(width),
          channels_(channels),
          margin_((reach + 1) / 2),
          kind_(kind),
          loops_(loops) {
        const double diagonal = reach / 2.0 / std::sqrt(2.0);
        const auto along = static_cast<int64_t>(std::ceil(diagonal));
        const int64_t across = std::llround(diagonal);
        steps_ = {{margin_, 0}, {along, across}, {along, -across}};
        split_into_planes(image);
    }

    void to_the_right(float *result) const {
        for (int64_t y = 0; y < height_; ++y)
            compare(width_ - 1, result + y * (width_ - 1), [&](const Step &step) {
                return Offsets{place(y - step.across, 1 - step.along),
                               place(y + step.across, step.along)};
            });
    }

    void downwards(float *result) const {
        for (int64_t y = 0; y + 1 < height_; ++y)
            compare(width_, result + y * width_, [&](const Step &step) {
                return Offsets{place(y - step.along + 1, -step.across),
                               place(y + step.along, step.across)};
            });
    }

  private:
    struct Step {
        int64_t along, across;  // of the edge's normal
    };
    struct Offsets {
        int64_t before, behind;
    };

    // Channel by channel, with a margin that repeats the outermost pixels.
    void split_into_planes(const float *image) {
        const int64_t rows = height_ + 2 * margin_, columns = width_ + 2 * margin_;
        planes_.resize(channels_ * rows * columns);
        for (int64_t y = 0; y < rows; ++y) {
            const int64_t inside = std::clamp<int64_t>(y - margin_, 0, height_ - 1);
            const float *row = image + inside * width_ * channels_;
            for (int64_t c = 0; c < channels_; ++c) {
                float *line = &planes_[(c * rows + y) * columns];
                std::fill_n(line, margin_, row[c]);
                for (int64_t x = 0; x < width_; ++x) line[margin_ + x] = row[x * channels_ + c];
                std::fill_n(line + margin_ + width_, margin_, row[(width_ - 1) * channels_ + c]);
            }
        }
    }

    int64_t place(int64_t y, int64_t x) const {
        return (y + margin_) * (width_ + 2 * margin_) + x + margin_;
    }

    // Compares along a row of edges; `sides` tells where the two sides of the first one lie.
    template <class Sides>
    void compare(int64_t size, float *best, Sides sides) const {
        const int64_t plane = (height_ + 2 * margin_) * (width_ + 2 * margin_);
        std::fill_n(best, size, 0.0f);
        std::vector<float> sum(size);
        const auto add = kind_ == Distance::euclidean ? loops_.add_squares : loops_.add_chi_squares;
        for (const Step &step : steps_) {
            const auto [before, behind] = sides(step);
            std::fill(sum.begin(), sum.end(), 0.0f);
            for (int64_t c = 0; c < channels_; ++c)
                add(&planes_[c * plane + before], &planes_[c * plane + behind], size, sum.data());
            loops_.single.raise(sum.data(), size, best);
        }
        if (kind_ == Distance::euclidean)
            loops_.roots(size, best);
        else
            for (int64_t x = 0; x < size; ++x) best[x] *= 0.5f;
    }

    int64_t height_, width_, channels_, margin_;
    Distance kind_;
    DenseLoops loops_;
    std::vector<Step> steps_;
    std::vector<float> planes_;
};

}  // namespace pfeseg
