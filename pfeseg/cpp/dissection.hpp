// Nested dissection: an order in which a graph's nodes can be eliminated with little fill-in.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

namespace pfeseg {

// The neighbours of each node, both directions stored.
struct Neighbours {
    std::vector<int32_t> start, node;

    Neighbours(int32_t n, const int32_t *edges, size_t n_edges)
        : start(static_cast<size_t>(n) + 1, 0), node(2 * n_edges) {
        for (size_t k = 0; k < 2 * n_edges; ++k) ++start[edges[k] + 1];
        for (int32_t i = 0; i < n; ++i) start[i + 1] += start[i];
        std::vector<int32_t> next(start.begin(), start.end() - 1);
        for (size_t e = 0; e < n_edges; ++e) {
            const int32_t i = edges[2 * e], j = edges[2 * e + 1];
            node[next[i]++] = j;
            node[next[j]++] = i;
        }
        for (int32_t i = 0; i < n; ++i)  // whatever the order of the edges
            std::sort(node.begin() + start[i], node.begin() + start[i + 1]);
    }
    int32_t size() const { return static_cast<int32_t>(start.size()) - 1; }
};

// Nodes that are eliminated together: a separator, or what is left at the leaves.
struct Part {
    int32_t begin, end;  // places in the order of elimination
    int32_t parent;      // -1 for a root
};

// Cuts a graph in two by a separator, and the halves again, until few nodes are left. The
// separator comes after its halves in the order, so eliminating one half fills in nothing in
// the other. Cuts are lines across the nodes' positions or, where these are not known, between
// the levels of a breadth-first search.
class Dissection {
  public:
    // `positions`, (n, axes), may be null.
    Dissection(const Neighbours &graph, const int32_t *positions, int axes)
        : graph_(graph),
          positions_(positions),
          n_axes_(axes),
          order_(graph.size()),
          mark_(graph.size(), 0),
          coordinate_(graph.size()),
          scratch_(graph.size()) {
        for (int32_t i = 0; i < graph.size(); ++i) order_[i] = i;
        if (positions_) find_axes();
        dissect(0, graph.size(), 0);
        for (const auto &[child, parent] : links_) parts_[child].parent = parent;
    }

    // Node that is eliminated at each place.
    const std::vector<int32_t> &order() const { return order_; }
    // Children come before their parents.
    const std::vector<Part> &parts() const { return parts_; }

  private:
    static constexpr int32_t kLeaf = 8;  // nodes that are not cut any further
    static constexpr int kDeepest = 64;  // a graph that resists so long is as good as complete

    // Orders the nodes at [begin, end) and returns the roots of their parts.
    std::vector<int32_t> dissect(int32_t begin, int32_t end, int depth) {
        if (begin == end) return {};
        int32_t left = begin, right = begin;  // where those halves end
        if (end - begin <= kLeaf || depth == kDeepest || !cut(begin, end, left, right))
            return {add({begin, end, -1}, {})};
        std::vector<int32_t> roots = dissect(begin, left, depth + 1);
        const std::vector<int32_t> others = dissect(left, right, depth + 1);
        roots.insert(roots.end(), others.begin(), others.end());
        if (right == end) return roots;  // nothing joined the halves
        return {add({right, end, -1}, roots)};
    }

    int32_t add(const Part &part, const std::vector<int32_t> &children) {
        const auto index = static_cast<int32_t>(parts_.size());
        parts_.push_back(part);
        for (const int32_t child : children) links_.emplace_back(child, index);
        return index;
    }

    // Brings [begin, end) into the order: one half, the other half, what separates them.
    bool cut(int32_t begin, int32_t end, int32_t &left, int32_t &right) {
        int32_t at;
        if (!find_cut(begin, end, at)) return false;
        ++marks_;
        for (int32_t k = begin; k < end; ++k)
            if (coordinate_[order_[k]] > at) mark_[order_[k]] = marks_;
        const auto separates = [&](int32_t i) {
            for (int32_t k = graph_.start[i]; k < graph_.start[i + 1]; ++k)
                if (mark_[graph_.node[k]] == marks_) return true;
            return false;
        };
        int32_t n_left = 0, n_right = 0, n_between = 0;
        for (int32_t k = begin; k < end; ++k) {
            const int32_t i = order_[k];
            if (coordinate_[i] > at)
                scratch_[begin + n_right++] = i;
            else if (separates(i))
                scratch_[end - ++n_between] = i;
            else
                order_[begin + n_left++] = i;
        }
        left = begin + n_left;
        right = left + n_right;
        std::copy_n(scratch_.begin() + begin, n_right, order_.begin() + left);
        std::reverse_copy(scratch_.begin() + right, scratch_.begin() + end,
                          order_.begin() + right);
        return true;
    }

    // A line or plane across which nodes can be cut: where coordinate a + sign b is constant.
    struct Axis {
        int a, b, sign;
        int32_t reach;  // the longest step that an edge makes across it
    };

    // The axes of the positions and their diagonals: on a grid of four neighbours, a diagonal
    // cut needs fewer nodes for as large a half.
    void find_axes() {
        for (int a = 0; a < n_axes_; ++a)
            for (int b = 0; b < a; ++b)
                for (const int sign : {1, -1}) axes_.push_back({a, b, sign, 0});
        for (int a = 0; a < n_axes_; ++a) axes_.push_back({a, a, 0, 0});
        for (Axis &axis : axes_)
            for (int32_t i = 0; i < graph_.size(); ++i)
                for (int32_t k = graph_.start[i]; k < graph_.start[i + 1]; ++k)
                    axis.reach = std::max(axis.reach,
                                          coordinate(axis, graph_.node[k]) - coordinate(axis, i));
    }

    int32_t coordinate(const Axis &axis, int32_t node) const {
        const int32_t *const position = positions_ + int64_t{n_axes_} * node;
        return position[axis.a] + axis.sign * position[axis.b];
    }

    // Gives the nodes coordinates, and finds one that leaves about as many below as above it,
    // with few in between.
    bool find_cut(int32_t begin, int32_t end, int32_t &at) {
        int32_t fewest = INT32_MAX;
        if (!positions_) {
            search(begin, end);
            middle(begin, end, 1, at, fewest);
            return fewest < INT32_MAX;
        }
        const Axis *best = nullptr;
        for (const Axis &axis : axes_) {
            for (int32_t k = begin; k < end; ++k)
                coordinate_[order_[k]] = coordinate(axis, order_[k]);
            if (middle(begin, end, axis.reach, at, fewest)) best = &axis;
        }
        if (!best) return false;
        for (int32_t k = begin; k < end; ++k)
            coordinate_[order_[k]] = coordinate(*best, order_[k]);
        return true;
    }

    // Looks for the cut that leaves the halves most alike. Changes `at` and `fewest`, and
    // returns true, where there are fewer nodes within `reach` of it than `fewest`.
    bool middle(int32_t begin, int32_t end, int32_t reach, int32_t &at, int32_t &fewest) {
        int32_t low = INT32_MAX, high = INT32_MIN;
        for (int32_t k = begin; k < end; ++k) {
            low = std::min(low, coordinate_[order_[k]]);
            high = std::max(high, coordinate_[order_[k]]);
        }
        if (low == high) return false;
        // Coordinates far apart are counted together, several at a time.
        const int64_t range = int64_t{high} - low + 1, most = 4 * int64_t{end - begin} + 64;
        const int64_t step = (range + most - 1) / most;
        counts_.assign((range + step - 1) / step, 0);
        for (int32_t k = begin; k < end; ++k) {
            const int64_t place = int64_t{coordinate_[order_[k]]} - low;
            ++counts_[step == 1 ? place : place / step];  // a division takes long
        }
        int32_t below = 0, least = INT32_MAX;
        int64_t cut_at = 0;
        for (int64_t c = 0; c + 1 < static_cast<int64_t>(counts_.size()); ++c) {
            const int32_t above = end - begin - below - counts_[c];
            const int32_t difference = std::abs(above - below);
            if (difference < least) {
                least = difference;
                cut_at = c;
            }
            below += counts_[c];
        }
        if (counts_.size() == 1) return false;
        int32_t between = 0;
        for (int64_t c = cut_at; c >= 0 && (cut_at - c) * step < reach; --c)
            between += counts_[c];
        if (between >= fewest) return false;
        fewest = between;
        at = static_cast<int32_t>(low + (cut_at + 1) * step - 1);
        return true;
    }

    // Levels of a breadth-first search from a node that an earlier search reached last. Nodes
    // that it does not reach are further levels.
    void search(int32_t begin, int32_t end) {
        int32_t last = order_[begin];
        for (int round = 0; round < 2; ++round) last = search_from(last, begin, end);
    }

    int32_t search_from(int32_t first, int32_t begin, int32_t end) {
        const int32_t inside = ++marks_;
        for (int32_t k = begin; k < end; ++k) mark_[order_[k]] = inside;
        ++marks_;  // reached
        int32_t level = 0, last = first;
        const auto visit = [&](int32_t root) {
            queue_.assign(1, root);
            mark_[root] = marks_;
            coordinate_[root] = level;
            for (size_t k = 0; k < queue_.size(); ++k) {
                const int32_t i = queue_[k];
                for (int32_t e = graph_.start[i]; e < graph_.start[i + 1]; ++e) {
                    const int32_t j = graph_.node[e];
                    if (mark_[j] != inside) continue;
                    mark_[j] = marks_;
                    coordinate_[j] = coordinate_[i] + 1;
                    queue_.push_back(j);
                }
            }
            level = coordinate_[queue_.back()] + 1;
        };
        visit(first);
        last = queue_.back();
        for (int32_t k = begin; k < end; ++k)
            if (mark_[order_[k]] == inside) visit(order_[k]);
        return last;
    }

    const Neighbours &graph_;
    const int32_t *positions_;
    int n_axes_;
    std::vector<Axis> axes_;
    std::vector<int32_t> order_, mark_, coordinate_, scratch_, counts_, queue_;
    int32_t marks_ = 0;
    std::vector<Part> parts_;
    std::vector<std::pair<int32_t, int32_t>> links_;
};

}  // namespace pfeseg
