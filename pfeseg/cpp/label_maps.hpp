// Label maps: numbering, connected regions, and where regions meet.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace pfeseg {

// Numbers keys 0, 1, ... in the order in which they come first.
class Numbering {
  public:
    Numbering() : slots_(64, -1) {}

    int32_t of(uint64_t key) {
        if (2 * keys_.size() >= slots_.size()) grow();
        int32_t &slot = slots_[slot_of(key)];
        if (slot < 0) {
            slot = static_cast<int32_t>(keys_.size());
            keys_.push_back(key);
        }
        return slot;
    }

    const std::vector<uint64_t> &keys() const { return keys_; }

  private:
    // Where the number of a key is, or would be.
    size_t slot_of(uint64_t key) const {
        const size_t last = slots_.size() - 1;
        size_t slot = static_cast<size_t>(key * 0x9E3779B97F4A7C15u >> shift_);
        while (slots_[slot] >= 0 && keys_[slots_[slot]] != key) slot = (slot + 1) & last;
        return slot;
    }

    void grow() {
        slots_.assign(4 * slots_.size(), -1);
        shift_ -= 2;
        for (size_t k = 0; k < keys_.size(); ++k)
            slots_[slot_of(keys_[k])] = static_cast<int32_t>(k);
    }

    std::vector<uint64_t> keys_;
    std::vector<int32_t> slots_;  // a power of two of them, at most half of them taken
    int shift_ = 64 - 6;  // leaves the highest bits: all bits of a key have a say in them
};

// Renumbers labels 0, 1, ... in order of first appearance.
template <class T>
void number_by_appearance(const T *labels, int64_t size, int32_t *result) {
    Numbering numbers;
    for (int64_t i = 0; i < size; ++i)
        result[i] = i && labels[i] == labels[i - 1]  // as most pixels
                        ? result[i - 1]
                        : numbers.of(static_cast<uint64_t>(labels[i]));
}

// Sets of numbers 0, 1, ..., each known by its least member.
class DisjointSets {
  public:
    explicit DisjointSets(int64_t size = 0) : owner_(size) {
        std::iota(owner_.begin(), owner_.end(), 0);
    }

    // Adds the next number, in a set of its own.
    void add() { owner_.push_back(static_cast<int32_t>(owner_.size())); }

    int32_t find(int32_t member) {
        while (owner_[member] != member) member = owner_[member] = owner_[owner_[member]];
        return member;
    }

    // Returns the member by which the joined set is known, and the one by which the other was.
    std::pair<int32_t, int32_t> join(int32_t a, int32_t b) {
        const auto [kept, absorbed] = std::minmax({find(a), find(b)});
        owner_[absorbed] = kept;
        return {kept, absorbed};
    }

  private:
    std::vector<int32_t> owner_;
};

// Numbers the connected regions of equal labels in order of first appearance, pixels being joined
// at their sides.
template <class T>
void split_regions(const T *labels, int64_t height, int64_t width, int32_t *regions) {
    // Runs of equal labels along the rows are joined: far fewer than pixels.
    std::vector<int32_t> run(height * width);
    int32_t runs = 0;
    for (int64_t y = 0; y < height; ++y)
        for (int64_t x = 0; x < width; ++x) {
            const int64_t i = y * width + x;
            run[i] = x && labels[i] == labels[i - 1] ? run[i - 1] : runs++;
        }
    DisjointSets sets(runs);
    for (int64_t i = width; i < height * width; ++i) {
        const int64_t above = i - width;
        const bool is_known = i % width && run[i] == run[i - 1] && run[above] == run[above - 1];
        if (labels[i] == labels[above] && !is_known) sets.join(run[i], run[above]);
    }
    // The least run of a region is its first, and comes before all others of it.
    std::vector<int32_t> number(runs);
    int32_t count = 0;
    for (int32_t r = 0; r < runs; ++r) {
        const int32_t first = sets.find(r);
        number[r] = first == r ? count++ : number[first];
    }
    for (int64_t i = 0; i < height * width; ++i) regions[i] = number[run[i]];
}

struct Meetings {
    std::vector<int32_t> pairs;   // (pairs, 2), the smaller first, in order
    std::vector<int32_t> edges;   // (edges, 2): where two labels meet, and the index of their pair
    std::vector<double> lengths;  // number of edges of each pair
};

// Lists the pairs of labels, none of them negative, that meet along steps (dy, dx) with dy >= 0.
// Edges are numbered from 0, one for each pixel from which a step stays inside the image: step
// by step, and row by row.
inline Meetings find_meetings(const int32_t *labels, int64_t height, int64_t width,
                              const int32_t *steps, int64_t n_steps) {
    Meetings found;
    Numbering numbers;
    int32_t edge = 0;
    for (int64_t k = 0; k < n_steps; ++k) {
        const int64_t dy = steps[2 * k], dx = steps[2 * k + 1];
        const int64_t begin = std::max<int64_t>(-dx, 0), end = width - std::max<int64_t>(dx, 0);
        for (int64_t y = 0; y + dy < height; ++y) {
            const int32_t *here = labels + y * width, *there = labels + (y + dy) * width + dx;
            for (int64_t x = begin; x < end; ++x, ++edge) {
                if (here[x] == there[x]) continue;
                const auto [low, high] = std::minmax(here[x], there[x]);
                const auto key = static_cast<uint64_t>(low) << 32 | static_cast<uint32_t>(high);
                found.edges.insert(found.edges.end(), {edge, numbers.of(key)});
            }
        }
    }
    const std::vector<uint64_t> &keys = numbers.keys();
    std::vector<int32_t> order(keys.size()), place(keys.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return keys[a] < keys[b]; });
    for (size_t k = 0; k < order.size(); ++k) {
        place[order[k]] = static_cast<int32_t>(k);
        const uint64_t key = keys[order[k]];
        found.pairs.insert(found.pairs.end(),
                           {static_cast<int32_t>(key >> 32), static_cast<int32_t>(key)});
    }
    found.lengths.assign(keys.size(), 0.0);
    for (size_t k = 1; k < found.edges.size(); k += 2) {
        found.edges[k] = place[found.edges[k]];
        found.lengths[found.edges[k]] += 1.0;
    }
    return found;
}

}  // namespace pfeseg
