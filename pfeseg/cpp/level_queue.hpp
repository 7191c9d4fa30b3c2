// A queue of pixels in the order of their heights, those of one height in the order in which
// they came.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#ifdef _MSC_VER
#include <intrin.h>
#endif

namespace pfeseg {

inline int lowest_bit(uint64_t word) {
#ifdef _MSC_VER
    unsigned long place;
    _BitScanForward64(&place, word);
    return static_cast<int>(place);
#else
    return __builtin_ctzll(word);
#endif
}

// Heights are known beforehand: each distinct one becomes a level with a line of pixels, and
// bits tell which levels have any, bits of bits in which words these are, and so on.
class LevelQueue {
  public:
    // Pixels number 0 ... pixels - 1, of which those that are `ranked`, by the key of their
    // height, may be queued.
    LevelQueue(int64_t pixels, std::vector<std::pair<uint32_t, int32_t>> ranked)
        : pixels_(pixels) {
        sort_by_height(ranked);
        int32_t level = -1;
        for (size_t k = 0; k < ranked.size(); ++k) {
            if (k == 0 || ranked[k].first != ranked[k - 1].first) ++level;
            pixels_[ranked[k].second] = {level, -1};
        }
        levels_.assign(level + 1, {-1, -1});
        size_t size = levels_.size();
        do {
            size = (size + 63) / 64;
            words_.emplace_back(size, 0);
        } while (size > 1);
    }

    // An integer that is ordered as the height is.
    static uint32_t key_of(float height) {
        height += 0.0f;  // of the two zeros there is one
        uint32_t bits;
        std::memcpy(&bits, &height, sizeof bits);
        return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    }

    void push(int32_t pixel) {
        const int32_t number = pixels_[pixel].level;
        Level &level = levels_[number];
        if (level.first >= 0) {
            pixels_[level.last].next = pixel;
        } else {
            level.first = pixel;
            size_t place = static_cast<size_t>(number);
            for (auto &words : words_) {
                uint64_t &word = words[place / 64];
                const bool was_empty = word == 0;
                word |= uint64_t{1} << place % 64;
                if (!was_empty) break;
                place /= 64;
            }
        }
        level.last = pixel;
    }

    bool empty() const { return words_.back().empty() || words_.back()[0] == 0; }

    int32_t pop() {
        size_t lowest = 0;
        for (size_t k = words_.size(); k-- > 0;)
            lowest = lowest * 64 + static_cast<size_t>(lowest_bit(words_[k][lowest]));
        Level &level = levels_[lowest];
        const int32_t pixel = level.first;
        level.first = pixels_[pixel].next;
        if (level.first < 0) {
            size_t place = lowest;
            for (auto &words : words_) {
                words[place / 64] &= ~(uint64_t{1} << place % 64);
                if (words[place / 64]) break;
                place /= 64;
            }
        }
        return pixel;
    }

  private:
    // Stable, by eleven bits at a time.
    static void sort_by_height(std::vector<std::pair<uint32_t, int32_t>> &ranked) {
        std::vector<std::pair<uint32_t, int32_t>> sorted(ranked.size());
        for (int shift = 0; shift < 32; shift += 11) {
            std::vector<size_t> start(2049, 0);
            for (const auto &entry : ranked) ++start[(entry.first >> shift & 2047) + 1];
            for (size_t k = 1; k < start.size(); ++k) start[k] += start[k - 1];
            for (const auto &entry : ranked) sorted[start[entry.first >> shift & 2047]++] = entry;
            std::swap(ranked, sorted);
        }
    }

    struct Pixel {
        int32_t level;
        int32_t next;  // of the same level, or -1
    };
    struct Level {
        int32_t first, last;  // pixels that wait; first is -1 if there are none
    };
    std::vector<Pixel> pixels_;
    std::vector<Level> levels_;
    std::vector<std::vector<uint64_t>> words_;
};

}  // namespace pfeseg
