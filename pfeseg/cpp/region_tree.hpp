// The tree of merged regions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "label_maps.hpp"

namespace pfeseg {

// Merges (kept, absorbed) of n regions in their order; tells which of them brings two regions
// together. Each region is absorbed once at most.
class MergeOrder {
  public:
    MergeOrder(const int32_t *merges, int64_t count) : parent_(count + 1), when_(count + 1) {
        std::iota(parent_.begin(), parent_.end(), 0);
        std::fill(when_.begin(), when_.end(), static_cast<int32_t>(count));
        for (int64_t k = 0; k < count; ++k) {
            parent_[merges[2 * k + 1]] = merges[2 * k];
            when_[merges[2 * k + 1]] = static_cast<int32_t>(k);
        }
        for (int64_t k = 0; k < count; ++k)
            if (when_[merges[2 * k]] <= k || when_[merges[2 * k + 1]] != k)
                throw std::invalid_argument("a region is merged after it was absorbed");
    }

    // 0 for a region and itself.
    int32_t joining(int32_t a, int32_t b) const {
        int32_t last = 0;
        while (a != b) {
            if (when_[b] <= when_[a]) std::swap(a, b);  // a goes first
            last = when_[a];
            a = parent_[a];
        }
        return last;
    }

  private:
    std::vector<int32_t> parent_, when_;
};

struct Joins {
    std::vector<int32_t> merges;  // (joins, 2): kept, absorbed
    std::vector<int32_t> pair;    // that made each
};

// Joins pairs of n regions in their order, leaving out those that are together already. The
// one that holds the region of the smaller number is kept.
inline Joins join_in_order(const int32_t *pairs, int64_t count, int64_t n) {
    DisjointSets sets(n);
    Joins made;
    for (int64_t k = 0; k < count; ++k) {
        const auto [kept, absorbed] = sets.join(pairs[2 * k], pairs[2 * k + 1]);
        if (kept == absorbed) continue;
        made.merges.insert(made.merges.end(), {kept, absorbed});
        made.pair.push_back(static_cast<int32_t>(k));
    }
    return made;
}

}  // namespace pfeseg
