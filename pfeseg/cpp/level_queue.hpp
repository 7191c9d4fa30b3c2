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

// All pixels that may come are known beforehand, and sorted: each has a slot. Bits tell which
// slots are taken, bits of bits in which words these are, and so on. That is far less memory
// than the pixels themselves, which lie in no order.
class LevelQueue {
  public:
    // An integer that is ordered as the height is.
    static uint32_t key_of(float height) {
        height += 0.0f;  // of the two zeros there is one
        uint32_t bits;
        std::memcpy(&bits, &height, sizeof bits);
        return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    }

    // Fewer than 2^30 pixels by the keys of their heights; calls give(pixel, ticket) for each.
    // Tickets are not negative.
    template <class Give>
    LevelQueue(std::vector<std::pair<uint32_t, int32_t>> pixels, Give give)
        : order_(pixels.size()) {
        sort_by_key(pixels);
        for (size_t begin = 0, end; begin < pixels.size(); begin = end) {
            end = begin + 1;
            while (end < pixels.size() && pixels[end].first == pixels[begin].first) ++end;
            auto ticket = static_cast<int32_t>(begin);
            if (end > begin + 1) {
                ticket = shared | static_cast<int32_t>(next_slot_.size());
                next_slot_.push_back(begin);
            }
            for (size_t k = begin; k < end; ++k) {
                order_[k] = pixels[k].second;
                give(pixels[k].second, ticket);
            }
        }
        size_t size = pixels.size();
        do {
            size = (size + 63) / 64;
            words_.emplace_back(size, 0);
        } while (size > 1);
    }

    // A pixel comes once.
    void push(int32_t pixel, int32_t ticket) {
        auto slot = static_cast<size_t>(ticket);
        if (ticket & shared) {  // the next slot of its height
            slot = next_slot_[ticket & ~shared]++;
            order_[slot] = pixel;
        }
        for (auto &words : words_) {
            uint64_t &word = words[slot / 64];
            const bool was_empty = word == 0;
            word |= uint64_t{1} << slot % 64;
            if (!was_empty) break;
            slot /= 64;
        }
    }

    bool empty() const { return words_.back().empty() || words_.back()[0] == 0; }

    int32_t pop() {
        size_t lowest = 0;
        for (size_t k = words_.size(); k-- > 0;)
            lowest = lowest * 64 + static_cast<size_t>(lowest_bit(words_[k][lowest]));
        size_t slot = lowest;
        for (auto &words : words_) {
            words[slot / 64] &= ~(uint64_t{1} << slot % 64);
            if (words[slot / 64]) break;
            slot /= 64;
        }
        return order_[lowest];
    }

  private:
    // Stable, by eight bits at a time.
    static void sort_by_key(std::vector<std::pair<uint32_t, int32_t>> &pixels) {
        std::vector<std::pair<uint32_t, int32_t>> sorted(pixels.size());
        for (int shift = 0; shift < 32; shift += 8) {
            std::vector<size_t> start(257, 0);
            for (const auto &pixel : pixels) ++start[(pixel.first >> shift & 255) + 1];
            for (size_t k = 1; k < start.size(); ++k) start[k] += start[k - 1];
            for (const auto &pixel : pixels) sorted[start[pixel.first >> shift & 255]++] = pixel;
            std::swap(pixels, sorted);
        }
    }

    static constexpr int32_t shared = 1 << 30;  // marks tickets of pixels of one height

    std::vector<int32_t> order_;     // pixel of each slot
    std::vector<size_t> next_slot_;  // of each height that several pixels have
    std::vector<std::vector<uint64_t>> words_;
};

}  // namespace pfeseg
