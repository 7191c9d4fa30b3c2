// Greedy merging of the regions of a region graph, the pair least likely to be apart first.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "dense_loops.hpp"

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

class RegionMerging {
  public:
    // sums: (regions, columns); per edge its two regions, its length in pixels
    // and the sums of its contrasts along that length, (edges, contrasts).
    RegionMerging(std::vector<double> areas, std::vector<double> sums, std::vector<Group> groups,
                  const std::vector<int32_t> &pairs, std::vector<double> lengths,
                  std::vector<double> contrasts, Chance chance, const DenseLoops &loops)
        : n_(static_cast<int32_t>(areas.size())),
          columns_(n_ ? sums.size() / areas.size() : 0),
          n_contrasts_(chance.plain.size() - groups.size() - 2),
          areas_(std::move(areas)),
          sums_(std::move(sums)),
          groups_(std::move(groups)),
          lengths_(std::move(lengths)),
          contrasts_(std::move(contrasts)),
          perimeters_(n_, 0.0),
          chance_(std::move(chance)),
          loops_(loops),
          means_(sums_.size()),
          log_shares_(n_),
          edges_of_(n_),
          edge_to_(n_, -1),
          odds_(lengths_.size(), 0.0),
          awaited_(n_, Awaited{gone, -1}) {
        for (const double area : areas_) total_ += area;
        for (int32_t region = 0; region < n_; ++region) average(region);
        ends_.resize(lengths_.size());
        for (size_t e = 0; e < ends_.size(); ++e) {
            ends_[e] = {pairs[2 * e], pairs[2 * e + 1]};
            for (const int32_t end : {pairs[2 * e], pairs[2 * e + 1]}) {
                edges_of_[end].push_back(static_cast<int32_t>(e));
                perimeters_[end] += lengths_[e];
            }
        }
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
            if (odds_[edge] != odds) {  // the edge is gone or has newer odds
                wait_for_lowest(region);
                continue;
            }
            if (!is_coarse_ && odds > 0.0) {
                // All regions that are left are as likely as not to be apart. Which of them to
                // do without is told by their area more than before.
                is_coarse_ = true;
                find_all_odds();
                height = beyond_even;
                continue;
            }
            height = std::max(height, odds);
            auto [kept, absorbed] = ends_[edge];
            if (edges_of_[kept].size() < edges_of_[absorbed].size()) std::swap(kept, absorbed);
            odds_[edge] = gone;
            perimeters_[kept] += perimeters_[absorbed] - 2.0 * lengths_[edge];
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

    // What the odds of a region need to know, after its sums have changed.
    void average(int32_t region) {
        const size_t begin = region * columns_;
        for (size_t k = begin; k < begin + columns_; ++k) means_[k] = sums_[k] / areas_[region];
        log_shares_[region] = std::log(areas_[region] / total_);
    }

    void find_all_odds() {
        for (size_t e = 0; e < ends_.size(); ++e)
            if (odds_[e] != gone) odds_[e] = log_odds(static_cast<int32_t>(e));
        waiting_ = {};
        for (int32_t region = 0; region < n_; ++region) wait_for_lowest(region);
    }

    // Queues the edge of lowest odds of a region. When the odds of an edge change, one of its
    // regions is queued anew, which is enough for the lowest of all edges to come first; what the
    // other one waits for is looked at when its turn comes.
    void wait_for_lowest(int32_t region) {
        Awaited lowest{gone, -1};
        for (const int32_t e : edges_of_[region]) lowest = std::min(lowest, Awaited{odds_[e], e});
        awaited_[region] = lowest;
        if (lowest.first != gone) waiting_.emplace(lowest.first, lowest.second, region);
    }

    void join(int32_t kept, int32_t absorbed) {
        areas_[kept] += areas_[absorbed];
        for (size_t k = 0; k < columns_; ++k)
            sums_[kept * columns_ + k] += sums_[absorbed * columns_ + k];
        average(kept);
        std::vector<int32_t> &edges = edges_of_[kept];
        edges.erase(std::remove_if(edges.begin(), edges.end(),
                                   [&](int32_t e) { return odds_[e] == gone; }),
                    edges.end());
        for (const int32_t e : edges) edge_to_[other_end(e, kept)] = e;
        for (const int32_t e : edges_of_[absorbed]) {
            if (odds_[e] == gone) continue;
            const int32_t other = other_end(e, absorbed);
            if (const int32_t same = edge_to_[other]; same >= 0) {
                lengths_[same] += lengths_[e];
                for (size_t k = 0; k < n_contrasts_; ++k)
                    contrasts_[same * n_contrasts_ + k] += contrasts_[e * n_contrasts_ + k];
                odds_[e] = gone;
            } else {
                ends_[e] = {kept, other};
                edge_to_[other] = e;
                edges.push_back(e);
            }
        }
        edges_of_[absorbed].clear();
        edges_of_[absorbed].shrink_to_fit();
        awaited_[absorbed] = {gone, -1};
        for (const int32_t e : edges) {
            edge_to_[other_end(e, kept)] = -1;
            odds_[e] = log_odds(e);
        }
        wait_for_lowest(kept);
    }

    int32_t other_end(int32_t edge, int32_t end) const {
        return ends_[edge].first == end ? ends_[edge].second : ends_[edge].first;
    }

    double log_odds(int32_t edge) const {
        const auto [a, b] = ends_[edge];
        const auto [smaller, larger] = std::minmax(log_shares_[a], log_shares_[b]);
        double sum = chance_.bias + chance_.smaller * smaller + chance_.larger * larger;
        size_t feature = 0;
        const auto add = [&](double value) {
            value = std::min(value, chance_.cap[feature]);
            sum += chance_.plain[feature] * value + chance_.root[feature] * std::sqrt(value);
            ++feature;
        };
        for (size_t k = 0; k < n_contrasts_; ++k)
            add(contrasts_[edge * n_contrasts_ + k] / lengths_[edge]);
        for (const Group &group : groups_) add(difference(a, b, group));
        add(lengths_[edge] / std::min(perimeters_[a], perimeters_[b]));
        add(std::min(areas_[a] / perimeters_[a], areas_[b] / perimeters_[b]) / std::sqrt(total_));
        // The odds of a speck are never better than even, and the worse the smaller it is: its
        // chance to be apart, times its share of what is no speck.
        if (is_coarse_) return sum + chance_.coarse * (smaller - log_typical_);
        if (smaller >= log_speck_) return sum;
        return smaller - log_speck_ - std::log1p(std::exp(-sum));
    }

    double difference(int32_t a, int32_t b, const Group &group) const {
        const double *p = &means_[a * columns_ + group.first];
        const double *q = &means_[b * columns_ + group.first];
        const int64_t size = group.last - group.first;
        if (group.comparison == Comparison::smaller)
            return std::min(std::accumulate(p, p + size, 0.0), std::accumulate(q, q + size, 0.0));
        return group.comparison == Comparison::chi_square
                   ? 0.5 * loops_.chi_square(p, q, size)
                   : std::sqrt(loops_.squared_distance(p, q, size));
    }

    int32_t n_;
    size_t columns_, n_contrasts_;
    std::vector<double> areas_, sums_;
    std::vector<Group> groups_;
    std::vector<double> lengths_, contrasts_, perimeters_;
    Chance chance_;
    DenseLoops loops_;
    std::vector<double> means_, log_shares_;
    double total_ = 0.0;
    const double log_speck_ = std::log(chance_.speck), log_typical_ = std::log(chance_.typical);
    bool is_coarse_ = false;
    std::vector<std::vector<int32_t>> edges_of_;
    std::vector<int32_t> edge_to_;  // of the region being joined: its edge to each other region
    std::vector<std::pair<int32_t, int32_t>> ends_;
    std::vector<double> odds_;      // of each edge
    std::vector<Awaited> awaited_;  // of each region
    std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_;
};

}  // namespace pfeseg
