// Greedy merging of the regions of a region graph, the pair least likely to be apart first.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <queue>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "dense_loops.hpp"
#include "portable.hpp"

namespace pfeseg {

// How the means of a group of columns of two regions are compared.
enum class Comparison : int32_t {
    euclidean = 0,
    chi_square = 1,
    smaller = 2,  // not compared: the smaller of the two sums over the columns
};

struct Group {
    int32_t first, last;
    Comparison comparison;
};

// Log-odds that two touching regions are apart, of the features of their pair: the contrasts along
// their boundary, the differences of their groups of columns, the share that the boundary has in
// the shorter of their perimeters, and the width of the thinner one, as area over perimeter. Each
// counts by itself and by its square root, up to a cap.
struct Chance {
    std::vector<double> plain, root, cap;  // of each feature
    double smaller, larger;                // of the logarithms of the areas, as shares of the image
    double bias;
    double speck;  // share of the image below which a region is not to stand for itself
    double coarse, typical;  // beyond even odds: more weight of the smaller area over a typical one
};

struct Merge {
    int32_t kept, absorbed;
    double height;
};

// Asks for memory that is needed soon: regions that merge next lie anywhere.
inline void fetch_soon(const double *values, size_t size) {
    for (size_t k = 0; k < size; k += 8) prefetch(values + k);
}

class RegionMerging {
  public:
    // sums: (regions, columns); per edge its two regions, its length in pixels
    // and the sums of its contrasts along that length, (edges, contrasts).
    RegionMerging(const double *areas, int32_t n, const double *sums, size_t columns,
                  std::vector<Group> groups, const int32_t *pairs, const double *lengths,
                  size_t n_edges, std::vector<double> contrasts, Chance chance,
                  const DenseLoops &loops)
        : n_(n),
          columns_(columns),
          n_contrasts_(chance.plain.size() - groups.size() - 2),
          groups_(std::move(groups)),
          chance_(std::move(chance)),
          loops_(loops),
          total_(std::accumulate(areas, areas + n, 0.0)),
          regions_(n),
          means_(sums, sums + n * columns),
          edges_(n_edges),
          contrasts_(std::move(contrasts)),
          edges_of_(n),
          edge_to_(n, -1),
          awaited_(n, Awaited{gone, -1}) {
        for (int32_t region = 0; region < n; ++region) {
            regions_[region] = {areas[region], 0.0, std::log(areas[region] / total_)};
            for (size_t k = 0; k < columns; ++k) means_[region * columns + k] /= areas[region];
        }
        for (size_t e = 0; e < n_edges; ++e) {
            edges_[e] = {pairs[2 * e], pairs[2 * e + 1], lengths[e], 0.0};
            for (const int32_t end : {pairs[2 * e], pairs[2 * e + 1]}) {
                edges_of_[end].push_back(static_cast<int32_t>(e));
                regions_[end].perimeter += lengths[e];
            }
        }
        check_simple();
    }

    // Merges until no two regions touch. The heights, log-odds, never fall.
    std::vector<Merge> run() {
        find_all_odds();
        std::vector<Merge> merges;
        double height = -std::numeric_limits<double>::infinity();
        while (!waiting_.empty()) {
            const auto [odds, edge, region] = waiting_.top();
            waiting_.pop();
            if (awaited_[region] != Awaited{odds, edge}) continue;  // it waits for another
            if (edges_[edge].odds != odds) {  // the edge is gone or has newer odds
                wait_for_lowest(region);
                continue;
            }
            if (!is_coarse_ && odds > 0.0) {
                // All regions that are left are as likely as not to be apart. Their areas tell
                // more than before which of them to do without.
                is_coarse_ = true;
                find_all_odds();
                height = beyond_even;
                continue;
            }
            height = std::max(height, odds);
            int32_t kept = edges_[edge].first, absorbed = edges_[edge].second;
            if (edges_of_[kept].size() < edges_of_[absorbed].size()) std::swap(kept, absorbed);
            edges_[edge].odds = gone;
            regions_[kept].perimeter += regions_[absorbed].perimeter - 2.0 * edges_[edge].length;
            join(kept, absorbed);
            merges.push_back({kept, absorbed, height});
        }
        return merges;
    }

    // Where the log-odds of the coarse merges begin: above 0 by what single precision can tell.
    static constexpr double beyond_even = 1e-5;

  private:
    using Awaited = std::pair<double, int32_t>;            // log-odds, edge
    using Waiting = std::tuple<double, int32_t, int32_t>;  // log-odds, edge, region
    static constexpr double gone = std::numeric_limits<double>::infinity();  // odds of an edge

    struct Region {
        double area, perimeter;
        double log_share;  // of the area in that of the image
    };
    struct Edge {
        int32_t first, second;
        double length, odds;
    };

    // Refuses a region that touches itself, or another one twice.
    void check_simple() {
        for (int32_t region = 0; region < n_; ++region)
            for (const int32_t e : edges_of_[region]) {
                int32_t &seen = edge_to_[other_end(e, region)];
                if (seen == region || other_end(e, region) == region)
                    throw std::invalid_argument("two regions meet more than once, or one itself");
                seen = region;
            }
        std::fill(edge_to_.begin(), edge_to_.end(), -1);
    }

    void find_all_odds() {
        for (Edge &edge : edges_)
            if (edge.odds != gone) edge.odds = log_odds(edge);
        waiting_ = {};
        for (int32_t region = 0; region < n_; ++region) wait_for_lowest(region);
    }

    // Queues the edge of lowest odds of a region. When the odds of an edge change, one of its
    // regions is queued anew, which is enough for the lowest of all edges to come first; what the
    // other one waits for is looked at when its turn comes.
    void wait_for_lowest(int32_t region) {
        Awaited lowest{gone, -1};
        for (const int32_t e : edges_of_[region])
            lowest = std::min(lowest, Awaited{edges_[e].odds, e});
        awaited_[region] = lowest;
        if (lowest.first != gone) waiting_.emplace(lowest.first, lowest.second, region);
    }

    void join(int32_t kept, int32_t absorbed) {
        mix(kept, absorbed);
        std::vector<int32_t> &edges = edges_of_[kept];
        edges.erase(std::remove_if(edges.begin(), edges.end(),
                                   [&](int32_t e) { return edges_[e].odds == gone; }),
                    edges.end());
        for (const int32_t e : edges) edge_to_[other_end(e, kept)] = e;
        for (const int32_t e : edges_of_[absorbed]) {
            if (edges_[e].odds == gone) continue;
            const int32_t other = other_end(e, absorbed);
            if (const int32_t same = edge_to_[other]; same >= 0) {
                edges_[same].length += edges_[e].length;
                for (size_t k = 0; k < n_contrasts_; ++k)
                    contrasts_[same * n_contrasts_ + k] += contrasts_[e * n_contrasts_ + k];
                edges_[e].odds = gone;
            } else {
                edges_[e].first = kept;
                edges_[e].second = other;
                edge_to_[other] = e;
                edges.push_back(e);
            }
        }
        edges_of_[absorbed].clear();
        edges_of_[absorbed].shrink_to_fit();
        awaited_[absorbed] = {gone, -1};
        for (const int32_t e : edges) {
            const int32_t other = other_end(e, kept);
            edge_to_[other] = -1;
            fetch_soon(means_.data() + other * columns_, columns_);
            fetch_soon(&regions_[other].area, 3);
            fetch_soon(contrasts_.data() + e * n_contrasts_, n_contrasts_);
        }
        for (const int32_t e : edges) edges_[e].odds = log_odds(edges_[e]);
        wait_for_lowest(kept);
    }

    // Means and area of a region that takes in another one.
    void mix(int32_t kept, int32_t absorbed) {
        Region &region = regions_[kept];
        const double area = region.area + regions_[absorbed].area;
        const double share = regions_[absorbed].area / area;
        double *means = means_.data() + kept * columns_;
        const double *others = means_.data() + absorbed * columns_;
        for (size_t k = 0; k < columns_; ++k) means[k] += share * (others[k] - means[k]);
        region.area = area;
        region.log_share = std::log(area / total_);
    }

    int32_t other_end(int32_t edge, int32_t end) const {
        return edges_[edge].first == end ? edges_[edge].second : edges_[edge].first;
    }

    double log_odds(const Edge &edge) const {
        const Region &a = regions_[edge.first], &b = regions_[edge.second];
        const auto [smaller, larger] = std::minmax(a.log_share, b.log_share);
        double sum = chance_.bias + chance_.smaller * smaller + chance_.larger * larger;
        size_t feature = 0;
        const auto add = [&](double value) {
            value = std::min(value, chance_.cap[feature]);
            sum += chance_.plain[feature] * value + chance_.root[feature] * std::sqrt(value);
            ++feature;
        };
        const double *contrasts = contrasts_.data() + (&edge - edges_.data()) * n_contrasts_;
        for (size_t k = 0; k < n_contrasts_; ++k) add(contrasts[k] / edge.length);
        for (const Group &group : groups_) add(difference(edge.first, edge.second, group));
        add(edge.length / std::min(a.perimeter, b.perimeter));
        add(std::min(a.area / a.perimeter, b.area / b.perimeter) / std::sqrt(total_));
        // The odds of a speck are never better than even, and the worse the smaller it is: its
        // chance to be apart, times its share of what is no speck.
        if (is_coarse_) return sum + chance_.coarse * (smaller - log_typical_);
        if (smaller >= log_speck_) return sum;
        return smaller - log_speck_ - std::log1p(std::exp(-sum));
    }

    double difference(int32_t a, int32_t b, const Group &group) const {
        const double *p = means_.data() + a * columns_ + group.first;
        const double *q = means_.data() + b * columns_ + group.first;
        const int64_t size = group.last - group.first;
        if (group.comparison == Comparison::smaller)
            return std::min(std::accumulate(p, p + size, 0.0), std::accumulate(q, q + size, 0.0));
        return group.comparison == Comparison::chi_square
                   ? 0.5 * loops_.chi_square(p, q, size)
                   : std::sqrt(loops_.squared_distance(p, q, size));
    }

    const int32_t n_;
    const size_t columns_, n_contrasts_;
    const std::vector<Group> groups_;
    const Chance chance_;
    const DenseLoops loops_;
    const double total_;  // area
    const double log_speck_ = std::log(chance_.speck), log_typical_ = std::log(chance_.typical);
    bool is_coarse_ = false;
    std::vector<Region> regions_;
    std::vector<double> means_;  // (regions, columns)
    std::vector<Edge> edges_;
    std::vector<double> contrasts_;  // (edges, contrasts), summed along them
    std::vector<std::vector<int32_t>> edges_of_;
    std::vector<int32_t> edge_to_;  // of the region being joined: its edge to each other region
    std::vector<Awaited> awaited_;  // of each region
    std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_;
};

}  // namespace pfeseg
