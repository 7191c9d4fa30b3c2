// Watershed of a relief: floods that rise from marked pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <queue>
#include <tuple>
#include <vector>

namespace pfeseg {

template <class Visit>
void for_each_neighbour(int64_t pixel, int64_t height, int64_t width, Visit visit) {
    const int64_t y = pixel / width, x = pixel % width;
    if (y > 0) visit(pixel - width);
    if (x > 0) visit(pixel - 1);
    if (x + 1 < width) visit(pixel + 1);
    if (y + 1 < height) visit(pixel + width);
}

// Marks the plateaus without a lower neighbour by 1, 2, ... in order of first appearance,
// and all else by 0.
inline void mark_minima(const float *relief, int64_t height, int64_t width, int32_t *markers) {
    std::vector<bool> seen(height * width, false);
    std::vector<int64_t> plateau;
    int32_t count = 0;
    for (int64_t start = 0; start < height * width; ++start) {
        if (seen[start]) continue;
        seen[start] = true;
        plateau.assign(1, start);
        bool lowest = true;
        for (size_t k = 0; k < plateau.size(); ++k)
            for_each_neighbour(plateau[k], height, width, [&](int64_t other) {
                if (relief[other] < relief[start]) lowest = false;
                if (relief[other] == relief[start] && !seen[other]) {
                    seen[other] = true;
                    plateau.push_back(other);
                }
            });
        if (lowest) ++count;
        for (const int64_t pixel : plateau) markers[pixel] = lowest ? count : 0;
    }
}

// Gives each pixel marked 0 the marker whose flood comes to it first: the lowest pixel beside
// the floods is taken next, of equal ones that which waits longest.
inline void flood(const float *relief, int64_t height, int64_t width, int32_t *markers) {
    using Waiting = std::tuple<float, int64_t, int64_t>;  // height, turn, pixel
    std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting;
    int64_t turn = 0;
    const auto spread = [&](int64_t pixel) {
        for_each_neighbour(pixel, height, width, [&](int64_t other) {
            if (markers[other]) return;
            markers[other] = markers[pixel];
            waiting.emplace(relief[other], turn++, other);
        });
    };
    // Marked pixels take their turns in the order of the relief too.
    for (int64_t pixel = 0; pixel < height * width; ++pixel) {
        if (!markers[pixel]) continue;
        bool at_the_shore = false;
        for_each_neighbour(pixel, height, width,
                           [&](int64_t other) { at_the_shore |= !markers[other]; });
        if (at_the_shore) waiting.emplace(relief[pixel], turn++, pixel);
    }
    while (!waiting.empty()) {
        const int64_t pixel = std::get<2>(waiting.top());
        waiting.pop();
        spread(pixel);
    }
}

}  // namespace pfeseg
