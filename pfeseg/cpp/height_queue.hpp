// A queue of pixels, the lowest first, those of one height in the order in which they came.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "portable.hpp"

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

    bool empty() const { return words_.back().empty() || words_.back()[0] == 0; }

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
    std::vector<std::vector<uint64_t>> words_;
};

// A pixel below 2^32 and its height, as one number that is ordered by the height.
inline uint64_t at_height(float height, int64_t pixel) {
    height += 0.0f;  // of the two zeros there is one
    uint32_t bits;
    std::memcpy(&bits, &height, sizeof bits);
    bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return static_cast<uint64_t>(bits) << 32 | static_cast<uint64_t>(pixel);
}

// All pixels that may come are known beforehand, and sorted: each has a slot, and bits tell which
// slots are taken. That is far less memory than the pixels themselves, which lie in no order.
class HeightQueue {
  public:
    // Takes results of `at_height`.
    explicit HeightQueue(std::vector<uint64_t> pixels)
        : slots_(sorted(std::move(pixels))), taken_(slots_.size()) {
        if (slots_.size() >= shared)
            throw std::length_error("a queue has room for fewer than 2^30 pixels");
    }

    // Calls visit(pixel, ticket) for all of them, which may push them at once. Tickets are not
    // negative. To be called once, before anything else.
    template <class Visit>
    void hand_out_tickets(Visit visit) {
        for (size_t begin = 0, end; begin < slots_.size(); begin = end) {
            end = begin + 1;
            while (end < slots_.size() && slots_[end] >> 32 == slots_[begin] >> 32) ++end;
            auto ticket = static_cast<int32_t>(begin);
            if (end > begin + 1) {
                ticket = shared | static_cast<int32_t>(next_slot_.size());
                next_slot_.push_back(begin);
            }
            for (size_t k = begin; k < end; ++k) visit(pixel_in(k), ticket);
        }
    }

    // A pixel comes once.
    void push(int64_t pixel, int32_t ticket) {
        auto slot = static_cast<size_t>(ticket);
        if (ticket & shared) {  // the next slot of its height
            slot = next_slot_[ticket & ~shared]++;
            slots_[slot] = static_cast<uint64_t>(pixel);
        }
        taken_.insert(slot);
    }

    bool empty() const { return taken_.empty(); }

    int64_t pop() {
        const size_t slot = taken_.least();
        taken_.erase(slot);
        return pixel_in(slot);
    }

  private:
    int64_t pixel_in(size_t slot) const {
        return static_cast<int64_t>(slots_[slot] & 0xFFFFFFFFu);
    }

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

    static constexpr int32_t shared = 1 << 30;  // marks tickets of pixels of one height

    std::vector<uint64_t> slots_;    // pixels by their heights
    std::vector<size_t> next_slot_;  // of each height that several pixels have
    LeastFirst taken_;               // slots
};

}  // namespace pfeseg
