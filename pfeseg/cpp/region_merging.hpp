// Greedy merging of the regions of a region graph, cheapest pair first.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <queue>
#include <tuple>
#include <vector>

namespace pfeseg {

// A group of columns of the regions' sums whose means are compared as one.
struct Group {
    int32_t first, last;
    bool histogram;  // compared by chi-square, else by Euclidean distance
    double weight;
};

struct Merge {
    int32_t kept, absorbed;
    double height;
};

class RegionMerging {
  public:
    // sums: (regions, columns); per edge its two regions, its length in pixels
    // and the sum of its contrast along that length.
    RegionMerging(std::vector<double> areas, std::vector<double> sums, std::vector<Group> groups,
                  const std::vector<int32_t> &pairs, std::vector<double> lengths,
                  std::vector<double> contrasts, double area_exponent)
        : n_(static_cast<int32_t>(areas.size())),
          columns_(n_ ? sums.size() / areas.size() : 0),
          areas_(std::move(areas)),
          sums_(std::move(sums)),
          groups_(std::move(groups)),
          lengths_(std::move(lengths)),
          contrasts_(std::move(contrasts)),
          exponent_(area_exponent),
          edges_of_(n_),
          edge_to_(n_, -1),
          stamp_(lengths_.size(), 0) {
        for (const double area : areas_) total_ += area;
        ends_.resize(lengths_.size());
        for (size_t e = 0; e < ends_.size(); ++e) {
            ends_[e] = {pairs[2 * e], pairs[2 * e + 1]};
            edges_of_[ends_[e].first].push_back(static_cast<int32_t>(e));
            edges_of_[ends_[e].second].push_back(static_cast<int32_t>(e));
        }
    }

    // Merges until no two regions touch. The heights never fall.
    std::vector<Merge> run() {
        for (size_t e = 0; e < ends_.size(); ++e) push(static_cast<int32_t>(e));
        std::vector<Merge> merges;
        double height = 0.0;
        while (!waiting_.empty()) {
            const auto [cost, edge, stamp] = waiting_.top();
            waiting_.pop();
            if (stamp != stamp_[edge]) continue;  // gone, or waiting under a newer cost
            height = std::max(height, cost);
            auto [kept, absorbed] = ends_[edge];
            if (edges_of_[kept].size() < edges_of_[absorbed].size()) std::swap(kept, absorbed);
            stamp_[edge] = -1;
            join(kept, absorbed);
            merges.push_back({kept, absorbed, height});
        }
        return merges;
    }

  private:
    using Waiting = std::tuple<double, int32_t, int64_t>;  // cost, edge, stamp

    void join(int32_t kept, int32_t absorbed) {
        areas_[kept] += areas_[absorbed];
        for (size_t k = 0; k < columns_; ++k)
            sums_[kept * columns_ + k] += sums_[absorbed * columns_ + k];
        std::vector<int32_t> &edges = edges_of_[kept];
        edges.erase(std::remove_if(edges.begin(), edges.end(),
                                   [&](int32_t e) { return stamp_[e] < 0; }),
                    edges.end());
        for (const int32_t e : edges) edge_to_[other_end(e, kept)] = e;
        for (const int32_t e : edges_of_[absorbed]) {
            if (stamp_[e] < 0) continue;
            const int32_t other = other_end(e, absorbed);
            if (const int32_t same = edge_to_[other]; same >= 0) {
                lengths_[same] += lengths_[e];
                contrasts_[same] += contrasts_[e];
                stamp_[e] = -1;
            } else {
                ends_[e] = {kept, other};
                edge_to_[other] = e;
                edges.push_back(e);
            }
        }
        edges_of_[absorbed].clear();
        edges_of_[absorbed].shrink_to_fit();
        for (const int32_t e : edges) {
            edge_to_[other_end(e, kept)] = -1;
            push(e);
        }
    }

    int32_t other_end(int32_t edge, int32_t end) const {
        return ends_[edge].first == end ? ends_[edge].second : ends_[edge].first;
    }

    void push(int32_t edge) { waiting_.emplace(cost(edge), edge, ++stamp_[edge]); }

    double cost(int32_t edge) const {
        const auto [a, b] = ends_[edge];
        double sum = contrasts_[edge] / lengths_[edge];
        for (const Group &group : groups_) sum += group.weight * difference(a, b, group);
        return sum * std::pow(std::min(areas_[a], areas_[b]) / total_, exponent_);
    }

    double difference(int32_t a, int32_t b, const Group &group) const {
        const double *p = &sums_[a * columns_], *q = &sums_[b * columns_];
        double sum = 0.0;
        for (int32_t k = group.first; k < group.last; ++k) {
            const double x = p[k] / areas_[a], y = q[k] / areas_[b];
            if (!group.histogram)
                sum += (x - y) * (x - y);
            else if (x + y > 0.0)
                sum += (x - y) * (x - y) / (x + y);
        }
        return group.histogram ? 0.5 * sum : std::sqrt(sum);
    }

    int32_t n_;
    size_t columns_;
    std::vector<double> areas_, sums_;
    std::vector<Group> groups_;
    std::vector<double> lengths_, contrasts_;
    double exponent_, total_ = 0.0;
    std::vector<std::vector<int32_t>> edges_of_;
    std::vector<int32_t> edge_to_;  // of the region being joined: its edge to each other region
    std::vector<std::pair<int32_t, int32_t>> ends_;
    std::vector<int64_t> stamp_;  // -1 once an edge is gone
    std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_;
};

}  // namespace pfeseg
