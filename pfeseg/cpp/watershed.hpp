// Watershed of a relief: floods that rise from marked pixels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bands.hpp"
#include "height_queue.hpp"

namespace pfeseg {

using Mask = std::vector<uint8_t>;

// Calls visit(neighbour) for those that share a side with a pixel below 2^32.
template <class Visit>
void for_each_neighbour(int64_t pixel, int64_t height, int64_t width, Visit visit) {
    const auto x = static_cast<uint32_t>(pixel) % static_cast<uint32_t>(width);
    if (pixel >= width) visit(pixel - width);
    if (x > 0) visit(pixel - 1);
    if (x + 1 < width) visit(pixel + 1);
    if (pixel + width < height * width) visit(pixel + width);
}

// Marks the pixels for which meets(value, value of a neighbour) holds with any neighbour.
template <class Meets>
Mask mark_meeting(const int32_t *values, int64_t height, int64_t width, const Bands &bands,
                  Meets meets) {
    Mask result(height * width);
    bands.for_each_row([&](int64_t y) {
        const int32_t *here = values + y * width;
        uint8_t *marks = &result[y * width];
        for (int64_t x = 0; x < width - 1; ++x) marks[x] |= meets(here[x], here[x + 1]);
        for (int64_t x = 1; x < width; ++x) marks[x] |= meets(here[x], here[x - 1]);
        if (y > 0)
            for (int64_t x = 0; x < width; ++x) marks[x] |= meets(here[x], here[x - width]);
        if (y + 1 < height)
            for (int64_t x = 0; x < width; ++x) marks[x] |= meets(here[x], here[x + width]);
    });
    return result;
}

// Marks the plateaus without a lower neighbour by 0, 1, ... in order of first appearance,
// and all else by -1.
inline void mark_minima(const float *relief, int64_t height, int64_t width, int32_t *markers) {
    constexpr int32_t unknown = -2, other = -1;
    std::fill_n(markers, height * width, unknown);
    std::vector<int64_t> plateau;
    int32_t count = 0;
    for (int64_t start = 0; start < height * width; ++start) {
        if (markers[start] != unknown) continue;
        markers[start] = other;
        plateau.assign(1, start);
        bool lowest = true;
        for (size_t k = 0; k < plateau.size(); ++k)
            for_each_neighbour(plateau[k], height, width, [&](int64_t beside) {
                lowest &= relief[beside] >= relief[start];
                if (relief[beside] == relief[start] && markers[beside] == unknown) {
                    markers[beside] = other;
                    plateau.push_back(beside);
                }
            });
        if (!lowest) continue;
        for (const int64_t pixel : plateau) markers[pixel] = count;
        ++count;
    }
}

// Marks the pixels of markers -1 and those beside them, from which floods come.
inline Mask find_shores(const int32_t *markers, int64_t height, int64_t width,
                        const Bands &bands) {
    return mark_meeting(markers, height, width, bands,
                        [](int32_t here, int32_t beside) { return (here | beside) < 0; });
}

// Gives each pixel marked -1 the marker whose flood comes to it first: the lowest pixel beside
// the floods is taken next, of equal ones that which waits longest. `shores` are these pixels
// and those beside them, in their order, as from `at_height`.
inline void flood_shores(std::vector<uint64_t> shores, int64_t height, int64_t width,
                         int32_t *markers) {
    HeightQueue queue(std::move(shores));
    // In place of -1, a pixel holds its ticket of the queue: where floods jump about in a large
    // image, time goes by the memory that they touch.
    queue.hand_out_tickets([&](int64_t pixel, int32_t ticket) {
        if (markers[pixel] < 0)
            markers[pixel] = ~ticket;
        else
            queue.push(pixel, ticket);
    });
    while (!queue.empty()) {
        const int64_t pixel = queue.pop();
        for_each_neighbour(pixel, height, width, [&](int64_t beside) {
            if (markers[beside] >= 0) return;
            queue.push(beside, ~markers[beside]);
            markers[beside] = markers[pixel];
        });
    }
}

// The same at the heights of a relief. Without any marker, all stay as they are.
inline void flood(const float *relief, int64_t height, int64_t width, int32_t *markers) {
    const int64_t size = height * width;
    if (std::all_of(markers, markers + size, [](int32_t marker) { return marker < 0; })) return;
    const Mask marks = find_shores(markers, height, width, Bands(height, 1));
    std::vector<uint64_t> shores;
    for (int64_t pixel = 0; pixel < size; ++pixel)
        if (marks[pixel]) shores.push_back(at_height(relief[pixel], pixel));
    flood_shores(std::move(shores), height, width, markers);
}

}  // namespace pfeseg
