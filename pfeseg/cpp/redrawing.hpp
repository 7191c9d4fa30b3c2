// Boundaries of a label map, drawn anew along the edges of an image.
//
// The inside of each piece is marked, and the band about the boundaries is flooded from there in
// the order of the gradient of the image. Only the band is looked at closely.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bands.hpp"
#include "brightness.hpp"
#include "label_maps.hpp"
#include "mirror.hpp"
#include "watershed.hpp"

namespace pfeseg {

// Calls visit(begin, end) for each run of places among `length` whose mark is `kind`.
template <class Visit>
void for_each_run(const uint8_t *marks, int64_t length, uint8_t kind, Visit visit) {
    for (int64_t begin = 0; begin < length;) {
        if (marks[begin] != kind) {
            ++begin;
            continue;
        }
        int64_t end = begin + 1;
        while (end < length && marks[end] == kind) ++end;
        visit(begin, end);
        begin = end;
    }
}

// Marks what lies within `steps` rows and columns of a mark.
inline Mask widened(const Mask &marks, int64_t height, int64_t width, int64_t steps,
                    const Bands &bands) {
    Mask across(marks), result(marks.size());
    bands.for_each_row([&](int64_t y) {
        const uint8_t *in = &marks[y * width];
        uint8_t *out = &across[y * width];
        for (int64_t step = 1; step <= std::min(steps, width - 1); ++step) {
            for (int64_t x = step; x < width; ++x) out[x] |= in[x - step];
            for (int64_t x = 0; x < width - step; ++x) out[x] |= in[x + step];
        }
    });
    bands.for_each_row([&](int64_t y) {
        const int64_t first = std::max<int64_t>(y - steps, 0);
        const int64_t last = std::min(y + steps, height - 1);
        uint8_t *out = &result[y * width];
        for (int64_t other = first; other <= last; ++other) {
            const uint8_t *in = &across[other * width];
            for (int64_t x = 0; x < width; ++x) out[x] |= in[x];
        }
    });
    return result;
}

// Marks the pixels within `reach` steps of another label; steps but one may be diagonal.
inline Mask near_boundary(const int32_t *labels, int64_t height, int64_t width, int reach,
                          const Bands &bands) {
    const Mask beside =
        mark_meeting(labels, height, width, bands,
                     [](int32_t here, int32_t other) { return here != other; });
    return reach > 1 ? widened(beside, height, width, reach - 1, bands) : beside;
}

// Connected spots of unmarked pixels, as runs along rows that know those they touch.
class Spots {
  public:
    Spots(const int32_t *pieces, const Mask &marks, int64_t height, int64_t width) {
        size_t above = 0;  // the first run of the row above
        for (int64_t y = 0; y < height; ++y) {
            const size_t row = runs_.size();
            size_t other = above;
            for_each_run(&marks[y * width], width, 0, [&](int64_t begin, int64_t end) {
                const auto run = static_cast<int32_t>(runs_.size());
                runs_.push_back({y * width + begin, end - begin, pieces[y * width + begin]});
                spots_.add();
                const int64_t up = (y - 1) * width;
                while (other < row && runs_[other].end() <= up + begin) ++other;
                for (size_t k = other; k < row && runs_[k].pixel < up + end; ++k)
                    spots_.join(static_cast<int32_t>(k), run);
            });
            above = row;
        }
    }

    // Writes the number of each piece into the largest of its spots, of equal ones the last.
    // Tells which pieces have none.
    Mask write_largest(int32_t n_pieces, int32_t *result) {
        std::vector<int64_t> size(runs_.size()), most(n_pieces);
        std::vector<int32_t> largest(n_pieces, -1);
        for (size_t k = 0; k < runs_.size(); ++k)
            size[spots_.find(static_cast<int32_t>(k))] += runs_[k].length;
        for (size_t k = 0; k < runs_.size(); ++k) {
            const int32_t piece = runs_[k].piece;
            if (!size[k] || size[k] < most[piece]) continue;
            most[piece] = size[k];
            largest[piece] = static_cast<int32_t>(k);
        }
        for (size_t k = 0; k < runs_.size(); ++k)
            if (spots_.find(static_cast<int32_t>(k)) == largest[runs_[k].piece])
                std::fill_n(result + runs_[k].pixel, runs_[k].length, runs_[k].piece);
        Mask hidden(n_pieces);
        for (int32_t piece = 0; piece < n_pieces; ++piece) hidden[piece] = largest[piece] < 0;
        return hidden;
    }

  private:
    struct Run {
        int64_t pixel, length;
        int32_t piece;
        int64_t end() const { return pixel + length; }
    };

    std::vector<Run> runs_;
    DisjointSets spots_;  // of runs, each known by its first
};

// Marks the inside of each connected piece 0, 1, ... by its number and all else by -1. That is
// one connected spot, from which a flood stays connected: the largest of what lies away from
// all boundaries, or the whole piece where nothing does.
inline void mark_insides(const int32_t *pieces, int64_t height, int64_t width, int reach,
                         int32_t n_pieces, const Bands &bands, int32_t *markers) {
    const Mask band = near_boundary(pieces, height, width, reach, bands);
    std::fill_n(markers, height * width, -1);
    const Mask hidden = Spots(pieces, band, height, width).write_largest(n_pieces, markers);
    for_each_run(band.data(), height * width, 1, [&](int64_t begin, int64_t end) {
        for (int64_t pixel = begin; pixel < end; ++pixel)
            if (hidden[pieces[pixel]]) markers[pixel] = pieces[pixel];
    });
}

// The norm of the gradient of an image, summed over its channels. Beyond its borders the image
// goes on as its mirror image.
template <class T>
class Gradient {
  public:
    // A Gaussian and its derivative, of one odd size.
    Gradient(const T *image, Brightness<T> brightness, int64_t height, int64_t width,
             int64_t channels, std::vector<float> gaussian, std::vector<float> derivative)
        : image_(image), brightness_(brightness), height_(height), width_(width),
          channels_(channels), gaussian_(std::move(gaussian)), derivative_(std::move(derivative)),
          radius_(static_cast<int64_t>(gaussian_.size()) / 2),
          smooth_((width + 2 * radius_) * channels), slope_(smooth_.size()),
          right_(smooth_.size()), down_(smooth_.size()) {}

    // Writes row y of it, at the marked places at least.
    void write_row(int64_t y, const uint8_t *marks, float *result) {
        int64_t first = 0, last = 0;  // of runs so near each other that they share pixels
        for_each_run(marks, width_, 1, [&](int64_t begin, int64_t end) {
            if (begin - last > 2 * radius_) {
                write_run(y, first, last, result);
                first = begin;
            }
            last = end;
        });
        write_run(y, first, last, result);
    }

  private:
    void write_run(int64_t y, int64_t begin, int64_t end, float *result) {
        if (begin == end) return;
        const int64_t size = (end - begin) * channels_;
        filter_down(y, begin, end);
        std::fill_n(right_.begin(), size, 0.0f);
        std::fill_n(down_.begin(), size, 0.0f);
        for (int64_t k = 0; k <= 2 * radius_; ++k) {
            const float along = gaussian_[k], across = derivative_[k];
            const float *smooth = &smooth_[k * channels_], *slope = &slope_[k * channels_];
            float *right = right_.data(), *down = down_.data();
            for (int64_t i = 0; i < size; ++i) {
                down[i] += along * slope[i];
                right[i] += across * smooth[i];
            }
        }
        for (int64_t i = 0; i < size; ++i)
            down_[i] = std::sqrt(down_[i] * down_[i] + right_[i] * right_[i]);
        for (int64_t x = begin, i = 0; x < end; ++x) {
            result[x] = 0.0f;
            for (int64_t c = 0; c < channels_; ++c) result[x] += down_[i++];
        }
    }

    // Filters columns begin - radius ... end + radius at row y: the smooth image, and its slope.
    void filter_down(int64_t y, int64_t begin, int64_t end) {
        const int64_t first = std::max<int64_t>(begin - radius_, 0);
        const int64_t last = std::min(end + radius_, width_);
        const int64_t size = (last - first) * channels_;
        const int64_t offset = (first - begin + radius_) * channels_;
        float *smooth = &smooth_[offset], *slope = &slope_[offset];
        std::fill_n(smooth, size, 0.0f);
        std::fill_n(slope, size, 0.0f);
        for (int64_t k = 0; k <= 2 * radius_; ++k) {
            const int64_t row = mirrored(y + k - radius_, height_);
            const T *in = image_ + (row * width_ + first) * channels_;
            const float along = gaussian_[k], across = derivative_[k];
            for (int64_t i = 0; i < size; ++i) {
                const float value = brightness_.level(in[i]);
                smooth[i] += along * value;
                slope[i] += across * value;
            }
        }
        for (int64_t x = begin - radius_; x < end + radius_; ++x) {
            if (x >= 0 && x < width_) continue;
            const int64_t to = (x - begin + radius_) * channels_;
            const int64_t from = (mirrored(x, width_) - begin + radius_) * channels_;
            std::copy_n(&smooth_[from], channels_, &smooth_[to]);
            std::copy_n(&slope_[from], channels_, &slope_[to]);
        }
    }

    const T *image_;
    Brightness<T> brightness_;
    int64_t height_, width_, channels_;
    std::vector<float> gaussian_, derivative_;
    int64_t radius_;
    std::vector<float> smooth_, slope_, right_, down_;  // of a run
};

// Lists the marked pixels in their order, at the heights of a gradient.
template <class T>
std::vector<uint64_t> heights_of(const Mask &marks, int64_t width, const Gradient<T> &gradient,
                                 const Bands &bands) {
    std::vector<int64_t> first(bands.count() + 1, 0);
    for (int band = 0; band < bands.count(); ++band)
        first[band + 1] = first[band] + std::count(marks.begin() + bands.begin(band) * width,
                                                   marks.begin() + bands.end(band) * width, 1);
    std::vector<uint64_t> pixels(first.back());
    std::vector<Gradient<T>> gradients(bands.count(), gradient);
    std::vector<std::vector<float>> lines(bands.count(), std::vector<float>(width));
    bands.run([&](int band) {
        uint64_t *next = pixels.data() + first[band];
        float *line = lines[band].data();
        for (int64_t y = bands.begin(band); y < bands.end(band); ++y) {
            gradients[band].write_row(y, &marks[y * width], line);
            for_each_run(&marks[y * width], width, 1, [&](int64_t begin, int64_t end) {
                for (int64_t x = begin; x < end; ++x) *next++ = at_height(line[x], y * width + x);
            });
        }
    });
    return pixels;
}

// Writes connected pieces 0, 1, ..., whose boundaries follow the edges of an image within
// `reach` steps of where they were.
template <class T>
void redraw_boundaries(const int32_t *pieces, int32_t n_pieces, int reach, int64_t height,
                       int64_t width, const Gradient<T> &gradient, int threads,
                       int32_t *result) {
    const Bands bands(height, threads);
    mark_insides(pieces, height, width, reach, n_pieces, bands, result);
    const Mask shores = find_shores(result, height, width, bands);
    flood_shores(heights_of(shores, width, gradient, bands), height, width, result);
}

}  // namespace pfeseg
