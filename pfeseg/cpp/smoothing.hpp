// Separable filters of images.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace pfeseg {

// Correlates an array (outer, length, inner) with weights along its middle axis. Beyond its
// ends it goes on as its mirror image, the outermost values repeated; it may be shorter than
// the weights. Sums run in the order of the weights, whatever the shape.
template <class T>
void correlate_axis(const T *values, int64_t outer, int64_t length, int64_t inner,
                    const std::vector<T> &weights, T *result) {
    const auto n_weights = static_cast<int64_t>(weights.size());
    const int64_t radius = n_weights / 2;
    const auto mirrored = [length](int64_t place) {
        place %= 2 * length;
        if (place < 0) place += 2 * length;
        return place < length ? place : 2 * length - 1 - place;
    };
    constexpr int64_t chunk = 1024;  // of results that stay in the nearest cache
    std::vector<T> extended((length + 2 * radius) * inner);
    for (int64_t o = 0; o < outer; ++o) {
        const T *line = values + o * length * inner;
        for (int64_t k = 0; k < length + 2 * radius; ++k)
            std::memcpy(&extended[k * inner], line + mirrored(k - radius) * inner,
                        inner * sizeof(T));
        T *out = result + o * length * inner;
        for (int64_t begin = 0; begin < length * inner; begin += chunk) {
            const int64_t size = std::min(chunk, length * inner - begin);
            std::fill_n(out + begin, size, T(0));
            for (int64_t k = 0; k < n_weights; ++k) {
                const T weight = weights[k];
                const T *in = &extended[begin + k * inner];
                for (int64_t i = 0; i < size; ++i) out[begin + i] += weight * in[i];
            }
        }
    }
}

}  // namespace pfeseg
