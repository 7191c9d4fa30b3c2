// Watershed of a relief: floods that rise from marked pixels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "level_queue.hpp"

namespace pfeseg {

// An image with a frame of one pixel, so that each of its own pixels has four neighbours.
template <class T>
class Framed {
  public:
    Framed(const T *image, int64_t height, int64_t width, T frame)
        : height_(height), width_(width), values_((height + 2) * (width + 2), frame) {
        for_each_pixel([&](int64_t place, int64_t pixel) { values_[place] = image[pixel]; });
    }

    int64_t place(int64_t y, int64_t x) const { return (y + 1) * (width_ + 2) + x + 1; }
    T &operator[](int64_t place) { return values_[place]; }
    const T &operator[](int64_t place) const { return values_[place]; }
    int64_t size() const { return static_cast<int64_t>(values_.size()); }

    // Calls visit(place, y * width + x) row by row.
    template <class Visit>
    void for_each_pixel(Visit visit) const {
        for (int64_t y = 0; y < height_; ++y)
            for (int64_t x = 0; x < width_; ++x) visit(place(y, x), y * width_ + x);
    }

    template <class Visit>
    void for_each_neighbour(int64_t place, Visit visit) const {
        visit(place - width_ - 2);
        visit(place - 1);
        visit(place + 1);
        visit(place + width_ + 2);
    }

  private:
    int64_t height_, width_;
    std::vector<T> values_;
};

// Marks the plateaus without a lower neighbour by 1, 2, ... in order of first appearance,
// and all else by 0.
inline void mark_minima(const float *heights, int64_t height, int64_t width, int32_t *markers) {
    const Framed<float> relief(heights, height, width, std::numeric_limits<float>::infinity());
    std::vector<int32_t> marks(relief.size(), -1);  // -1 until it is known
    std::vector<int64_t> plateau;
    int32_t count = 0;
    relief.for_each_pixel([&](int64_t start, int64_t pixel) {
        if (marks[start] < 0) {
            marks[start] = 0;
            plateau.assign(1, start);
            bool lowest = true;
            for (size_t k = 0; k < plateau.size(); ++k)
                relief.for_each_neighbour(plateau[k], [&](int64_t other) {
                    lowest &= relief[other] >= relief[start];
                    if (relief[other] == relief[start] && marks[other] < 0) {
                        marks[other] = 0;
                        plateau.push_back(other);
                    }
                });
            if (lowest) {
                ++count;
                for (const int64_t place : plateau) marks[place] = count;
            }
        }
        markers[pixel] = marks[start];
    });
}

// Gives each pixel marked 0 the marker, above 0, whose flood comes to it first: the lowest pixel
// beside the floods is taken next, of equal ones that which waits longest.
inline void flood(const float *relief, int64_t height, int64_t width, int32_t *markers) {
    // A pixel that no flood has come to holds its ticket of the queue, below 0, instead of a
    // mark: where floods jump about in a large image, time goes by the memory that they touch.
    Framed<int32_t> cells(markers, height, width, std::numeric_limits<int32_t>::max());
    // Marked pixels take their turns in the order of the relief too, if they are at the shore.
    std::vector<std::pair<uint32_t, int32_t>> waiters;
    std::vector<std::pair<int32_t, int32_t>> shore;  // place, mark
    waiters.reserve(height * width);
    cells.for_each_pixel([&](int64_t place, int64_t pixel) {
        bool waits = cells[place] == 0;
        if (!waits) {
            cells.for_each_neighbour(place, [&](int64_t other) { waits |= cells[other] == 0; });
            if (waits) shore.emplace_back(static_cast<int32_t>(place), cells[place]);
        }
        if (waits)
            waiters.emplace_back(LevelQueue::key_of(relief[pixel]), static_cast<int32_t>(place));
    });
    if (shore.empty()) return;
    LevelQueue queue(std::move(waiters),
                     [&](int32_t place, int32_t ticket) { cells[place] = ~ticket; });
    for (const auto &[place, mark] : shore) {
        queue.push(place, ~cells[place]);
        cells[place] = mark;
    }
    while (!queue.empty()) {
        const int32_t place = queue.pop();
        const int32_t mark = cells[place];
        cells.for_each_neighbour(place, [&](int64_t other) {
            if (cells[other] > 0) return;
            queue.push(static_cast<int32_t>(other), ~cells[other]);
            cells[other] = mark;
        });
    }
    cells.for_each_pixel([&](int64_t place, int64_t pixel) { markers[pixel] = cells[place]; });
}

}  // namespace pfeseg
