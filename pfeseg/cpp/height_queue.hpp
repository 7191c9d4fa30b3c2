// A queue of pixels, the lowest first, those of one height in the order in which they came.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#ifdef _MSC_VER
#include <intrin.h>
#endif

namespace pfeseg {

// A set of numbers below `size` that knows its least: bits of the numbers, bits that tell which
// words of these are not 0, and so on.
class LeastFirst {
  public:
    explicit LeastFirst(size_t size) {
        do {
            size = (size + 63) / 64;
            words_.emplace_back(size, 0);
        } while (size > 1);
    }

    bool empty() const { return words_.back()[0] == 0; }

    size_t least() const {
        size_t place = 0;
        for (size_t k = words_.size(); k-- > 0;) place = place * 64 + first_bit(words_[k][place]);
        return place;
    }

    void insert(size_t place) {
        for (auto &words : words_) {
            uint64_t &word = words[place / 64];
            const bool was_empty = word == 0;
            word |= uint64_t{1} << place % 64;
            if (!was_empty) break;
            place /= 64;
        }
    }

    void erase(size_t place) {
        for (auto &words : words_) {
            uint64_t &word = words[place / 64];
            word &= ~(uint64_t{1} << place % 64);
            if (word) break;
            place /= 64;
        }
    }

  private:
    static size_t first_bit(uint64_t word) {
#ifdef _MSC_VER
        unsigned long place;
        _BitScanForward64(&place, word);
        return place;
#else
        return static_cast<size_t>(__builtin_ctzll(word));
#endif
    }

    std::vector<std::vector<uint64_t>> words_;
};

// A pixel below 2^32 and its height, which is not negative, as one number that is ordered by
// the height.
inline uint64_t at_height(float height, int64_t pixel) {
    uint32_t bits;
    std::memcpy(&bits, &height, sizeof bits);
    return static_cast<uint64_t>(bits) << 32 | static_cast<uint64_t>(pixel);
}

// Heights are known beforehand. Pixels of one height stand in one line, for which there is
// room as they are queued once each; a line is called by the number of its first place.
class HeightQueue {
  public:
    // Of results of `at_height`.
    explicit HeightQueue(std::vector<uint64_t> pixels)
        : pixels_(sorted(std::move(pixels))), line_(pixels_.size()), ends_(pixels_.size()),
          waiting_(pixels_.size()) {}

    // Calls visit(pixel, line) for all pixels, those of one height in the order in which they
    // were given.
    template <class Visit>
    void for_each_pixel(Visit visit) const {
        size_t line = 0;
        for (size_t k = 0; k < pixels_.size(); ++k) {
            if (pixels_[k] >> 32 != pixels_[line] >> 32) line = k;
            visit(static_cast<int64_t>(pixels_[k] & 0xFFFFFFFFu), line);
        }
    }

    void push(int64_t pixel, size_t line) {
        Ends &ends = ends_[line];
        if (ends.first == ends.last) waiting_.insert(line);
        line_[line + ends.last++] = static_cast<uint32_t>(pixel);
    }

    bool empty() const { return waiting_.empty(); }

    int64_t pop() {
        const size_t line = waiting_.least();
        Ends &ends = ends_[line];
        const int64_t pixel = line_[line + ends.first++];
        if (ends.first == ends.last) waiting_.erase(line);
        return pixel;
    }

  private:
    struct Ends {
        uint32_t first = 0, last = 0;
    };

    // By the heights, eleven bits at a time; stable.
    static std::vector<uint64_t> sorted(std::vector<uint64_t> pixels) {
        std::vector<uint64_t> next(pixels.size());
        for (int shift = 32; shift < 64; shift += 11) {
            std::vector<size_t> place(2049, 0);
            for (const uint64_t pixel : pixels) ++place[(pixel >> shift & 2047) + 1];
            for (size_t k = 1; k < place.size(); ++k) place[k] += place[k - 1];
            for (const uint64_t pixel : pixels) next[place[pixel >> shift & 2047]++] = pixel;
            std::swap(pixels, next);
        }
        return pixels;
    }

    std::vector<uint64_t> pixels_;  // by their heights
    std::vector<uint32_t> line_;    // those that wait
    std::vector<Ends> ends_;        // of each line
    LeastFirst waiting_;            // lines
};

}  // namespace pfeseg
