// Contrast of the two sides of every pixel edge, over several orientations.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "dense_loops.hpp"
#include "mirror.hpp"

namespace pfeseg {

enum class Distance { euclidean, chi_square };

// A range of columns, which may reach beyond the borders of an image.
struct Columns {
    int64_t begin, end;
    int64_t size() const { return end - begin; }
};

// Channels `first` ... `last` - 1 of an image, row by row, smoothed along the rows.
class ColourRows {
  public:
    ColourRows(const float *image, int64_t width, int64_t channels, int64_t first, int64_t last,
               std::vector<float> window, const DenseLoops &loops)
        : image_(image),
          width_(width),
          stride_(channels),
          first_(first),
          last_(last),
          window_(std::move(window)),
          shifted_(window_.size()),
          loops_(loops) {}

    int64_t channels() const { return last_ - first_; }

    // Lines of so many columns, one below the other.
    void smooth(int64_t y, Columns columns, float *lines) {
        const auto taps = static_cast<int64_t>(window_.size());
        const int64_t radius = taps / 2;
        line_.resize(columns.size() + taps - 1);
        for (int64_t k = 0; k < taps; ++k) shifted_[k] = line_.data() + k;
        for (int64_t c = first_; c < last_; ++c, lines += columns.size()) {
            const float *row = image_ + y * width_ * stride_ + c;
            for (int64_t x = columns.begin - radius; x < columns.end + radius; ++x)
                line_[x - columns.begin + radius] = row[mirrored(x, width_) * stride_];
            loops_.single.weighted_sum(shifted_.data(), window_.data(), taps, 0.0f,
                                       columns.size(), lines);
        }
    }

  private:
    const float *image_;
    int64_t width_, stride_, first_, last_;
    std::vector<float> window_;
    std::vector<const float *> shifted_;
    std::vector<float> line_;
    DenseLoops loops_;
};

// Classes of pixels as channels, 1 where a pixel is of the class and 0 elsewhere, smoothed along
// the rows: each pixel adds the window to the line of its class.
class ClassRows {
  public:
    ClassRows(const int32_t *classes, int64_t width, int64_t n_classes, std::vector<float> window)
        : classes_(classes), width_(width), n_classes_(n_classes), window_(std::move(window)) {}

    int64_t channels() const { return n_classes_; }

    void smooth(int64_t y, Columns columns, float *lines) {
        const auto taps = static_cast<int64_t>(window_.size());
        const int64_t margin = taps - 1, padded = columns.size() + 2 * margin;
        padded_.assign(n_classes_ * padded, 0.0f);
        for (int64_t x = columns.begin - margin / 2; x < columns.end + margin / 2; ++x) {
            const int32_t found = classes_[y * width_ + mirrored(x, width_)];
            float *around = padded_.data() + found * padded + margin / 2 + x - columns.begin;
            // The window is even, so that its order does not matter.
            for (int64_t k = 0; k < taps; ++k) around[k] += window_[k];
        }
        for (int64_t c = 0; c < n_classes_; ++c)
            std::copy_n(padded_.data() + c * padded + margin, columns.size(),
                        lines + c * columns.size());
    }

  private:
    const int32_t *classes_;
    int64_t width_, n_classes_;
    std::vector<float> window_, padded_;
};

// For the edge of each pixel with its right (or lower) neighbour: the greatest
// distance between the channels at two points that lie opposite each other
// across the middle of the edge, `reach` / 2 pixels away from it, along the
// edge's normal and 45 degrees to either side of it. `reach` is odd, so that
// the points of the normal are pixels; those of the diagonals are rounded.
//
// Rows come smoothed along themselves, and are smoothed along the columns here. An image is
// looked at in strips, of which a few rows are kept at a time, so that they stay in the cache.
template <class Rows>
class EdgeContrast {
  public:
    EdgeContrast(Rows rows, int64_t height, int64_t width, std::vector<float> window, int reach,
                 Distance kind, const DenseLoops &loops)
        : rows_(std::move(rows)),
          height_(height),
          width_(width),
          window_(std::move(window)),
          radius_(static_cast<int64_t>(window_.size()) / 2),
          margin_((reach + 1) / 2),
          kind_(kind),
          loops_(loops) {
        const double diagonal = reach / 2.0 / std::sqrt(2.0);
        const auto along = static_cast<int64_t>(std::ceil(diagonal));
        const int64_t across = std::llround(diagonal);
        steps_[0] = {margin_, 0};
        steps_[1] = {along, across};
        steps_[2] = {along, -across};
    }

    // Results are (height, width - 1) and (height - 1, width).
    void compare(float *right, float *down) {
        constexpr int64_t strip = 256;
        for (int64_t begin = 0; begin < width_; begin += strip)
            compare_strip({begin, std::min(begin + strip, width_)}, right, down);
    }

  private:
    struct Step {
        int64_t along, across;  // of the edge's normal
    };

    // The last rows of a strip with margins to both sides, each as a line for each channel.
    struct Ring {
        Ring(int64_t rows, int64_t size) : rows(rows), size(size), values(rows * size) {}
        float *row(int64_t y) { return values.data() + y % rows * size; }
        int64_t rows, size;
        std::vector<float> values;
    };

    void compare_strip(Columns strip, float *right, float *down) {
        const Columns wide{strip.begin - margin_, strip.end + margin_};
        const int64_t size = rows_.channels() * wide.size();
        Ring once(2 * radius_ + 1, size), smooth(2 * margin_ + 1, size);
        int64_t read = 0, smoothed = 0;
        for (int64_t y = 0; y < height_; ++y) {
            for (; smoothed <= std::min(y + margin_, height_ - 1); ++smoothed) {
                for (; read <= std::min(smoothed + radius_, height_ - 1); ++read)
                    rows_.smooth(read, wide, once.row(read));
                smooth_row(smoothed, wide, once, smooth.row(smoothed));
            }
            const int64_t to_the_right = std::min(strip.end, width_ - 1) - strip.begin;
            compare_row(to_the_right, wide, right + y * (width_ - 1) + strip.begin,
                        [&](const Step &step) {
                            return Sides{place(smooth, y - step.across, 1 - step.along),
                                         place(smooth, y + step.across, step.along)};
                        });
            if (y + 1 < height_)
                compare_row(strip.size(), wide, down + y * width_ + strip.begin,
                            [&](const Step &step) {
                                return Sides{place(smooth, y - step.along + 1, -step.across),
                                             place(smooth, y + step.along, step.across)};
                            });
        }
    }

    // Beyond the borders of the image, its outermost pixels are repeated.
    void smooth_row(int64_t y, Columns wide, Ring &once, float *result) {
        std::vector<const float *> lines;
        for (int64_t k = -radius_; k <= radius_; ++k)
            lines.push_back(once.row(mirrored(y + k, height_)));
        loops_.single.weighted_sum(lines.data(), window_.data(),
                                   static_cast<int64_t>(window_.size()), 0.0f, once.size, result);
        for (int64_t c = 0; c < rows_.channels(); ++c) {
            float *line = result + c * wide.size() - wide.begin;
            for (int64_t x = wide.begin; x < 0; ++x) line[x] = line[0];
            for (int64_t x = width_; x < wide.end; ++x) line[x] = line[width_ - 1];
        }
    }

    struct Sides {
        const float *before, *behind;  // in the line of the first channel
    };

    const float *place(Ring &smooth, int64_t y, int64_t x) const {
        return smooth.row(std::clamp<int64_t>(y, 0, height_ - 1)) + margin_ + x;
    }

    // Compares along a row of edges; `sides` tells where the two sides of the first one lie.
    template <class Find>
    void compare_row(int64_t size, Columns wide, float *best, Find sides) {
        if (size <= 0) return;
        std::fill_n(best, size, 0.0f);
        sum_.resize(size);
        const auto add = kind_ == Distance::euclidean ? loops_.add_squares : loops_.add_chi_squares;
        for (const Step &step : steps_) {
            const auto [before, behind] = sides(step);
            std::fill(sum_.begin(), sum_.end(), 0.0f);
            for (int64_t c = 0; c < rows_.channels(); ++c)
                add(before + c * wide.size(), behind + c * wide.size(), size, sum_.data());
            loops_.single.raise(sum_.data(), size, best);
        }
        if (kind_ == Distance::euclidean)
            loops_.roots(size, best);
        else
            for (int64_t x = 0; x < size; ++x) best[x] *= 0.5f;
    }

    Rows rows_;
    int64_t height_, width_;
    std::vector<float> window_;
    int64_t radius_, margin_;
    Distance kind_;
    DenseLoops loops_;
    Step steps_[3];
    std::vector<float> sum_;
};

}  // namespace pfeseg
