// Where an image goes on beyond its borders.
#pragma once

#include <cstdint>

namespace pfeseg {

// The place of which any place along a line of pixels is the mirror image, the outermost pixels
// being repeated. Lines may be shorter than the way beyond them.
inline int64_t mirrored(int64_t place, int64_t length) {
    if (place >= 0 && place < length) return place;
    place %= 2 * length;
    if (place < 0) place += 2 * length;
    return place < length ? place : 2 * length - 1 - place;
}

}  // namespace pfeseg
