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
        for (int64_t y = 0; y < height; ++y)
            std::copy_n(image + y * width, width, &values_[place(y, 0)]);
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

// Gives each pixel marked 0 the marker whose flood comes to it first: the lowest pixel beside
// the floods is taken next, of equal ones that which waits longest.
inline void flood(const float *relief, int64_t height, int64_t width, int32_t *markers) {
    Framed<int32_t> marks(markers, height, width, -1);
    // Marked pixels take their turns in the order of the relief too, if they are at the shore.
    std::vector<std::pair<uint32_t, int32_t>> ranked;
    std::vector<int32_t> shore;
    marks.for_each_pixel([&](int64_t place, int64_t pixel) {
        bool waits = marks[place] == 0;
        if (!waits) {
            marks.for_each_neighbour(place, [&](int64_t other) { waits |= marks[other] == 0; });
            if (waits) shore.push_back(static_cast<int32_t>(place));
        }
        if (waits)
            ranked.emplace_back(LevelQueue::key_of(relief[pixel]), static_cast<int32_t>(place));
    });
    if (shore.empty()) return;
    LevelQueue waiting(marks.size(), std::move(ranked));
    for (const int32_t place : shore) waiting.push(place);
    while (!waiting.empty()) {
        const int32_t place = waiting.pop();
        const int32_t mark = marks[place];
        marks.for_each_neighbour(place, [&](int64_t other) {
            if (marks[other]) return;
            marks[other] = mark;
            waiting.push(static_cast<int32_t>(other));
        });
    }
    marks.for_each_pixel([&](int64_t place, int64_t pixel) { markers[pixel] = marks[place]; });
}

}  // namespace pfeseg
