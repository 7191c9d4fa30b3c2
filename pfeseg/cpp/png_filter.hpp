// The filter of PNG files that foretells each byte from its neighbours, named after Paeth.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace pfeseg {

constexpr uint8_t paeth_filter = 4;  // its number in PNG files

// Writes what is left of a row of bytes once each is foretold: by that one pixel to the left,
// that of the row above or the one left of it, whichever is nearest to left + above - corner.
inline void filter_row(const uint8_t *row, const uint8_t *above, int64_t bytes, int64_t pixel,
                       uint8_t *result) {
    for (int64_t i = 0; i < pixel && i < bytes; ++i)
        result[i] = static_cast<uint8_t>(row[i] - above[i]);
    for (int64_t i = pixel; i < bytes; ++i) {
        const int16_t a = row[i - pixel], b = above[i], c = above[i - pixel];
        const int16_t from_b = a - c, from_a = b - c, from_c = from_a + from_b;
        const int16_t to_a = from_a < 0 ? -from_a : from_a;
        const int16_t to_b = from_b < 0 ? -from_b : from_b;
        const int16_t to_c = from_c < 0 ? -from_c : from_c;
        const int16_t b_or_c = to_b <= to_c ? b : c;
        const int16_t nearer = to_b <= to_c ? to_b : to_c;
        const int16_t foretold = to_a <= nearer ? a : b_or_c;
        result[i] = static_cast<uint8_t>(row[i] - foretold);
    }
}

}  // namespace pfeseg
