// What eliminating a graph's nodes one part after the other needs to know beforehand: it depends
// on the graph alone, not on its weights.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "dissection.hpp"
#include "front_walk.hpp"

namespace pfeseg {

// Subtrees that are walked without looking at others.
struct Domain {
    int32_t first_visit, end_visit;
    std::vector<int32_t> above;  // the fronts above them, up to the roots
};

class Elimination {
  public:
    // `edges` are pairs of nodes, `positions` of shape (n, axes) or null.
    Elimination(int32_t n, const int32_t *edges, size_t n_edges, const int32_t *positions,
                int axes, int64_t max_entries)
        : n_(n), n_edges_(n_edges) {
        const Neighbours graph(n, edges, n_edges);
        const Dissection dissection(graph, positions, axes);
        order_ = dissection.order();
        column_.resize(n);
        for (int32_t k = 0; k < n; ++k) column_[order_[k]] = k;
        for (const Part &part : dissection.parts())
            fronts_.push_back({part.begin, part.end - part.begin, part.parent, 0, 0, 0, 0, 0, 0});
        front_of_.resize(n);
        for (size_t f = 0; f < fronts_.size(); ++f)
            std::fill_n(front_of_.begin() + fronts_[f].begin, fronts_[f].columns,
                        static_cast<int32_t>(f));
        children_.resize(fronts_.size());
        for (size_t f = 0; f < fronts_.size(); ++f)
            if (fronts_[f].parent >= 0)
                children_[fronts_[f].parent].push_back(static_cast<int32_t>(f));
        if (!find_rows(graph, max_entries)) return;
        choose_domains();
        give_slots();
        give_places(edges);
    }

    int32_t n() const { return n_; }
    size_t n_edges() const { return n_edges_; }
    // Whether the factor has at most so many entries; if not, nothing else is known.
    bool fits() const { return fits_; }
    int64_t entries() const { return entries_; }
    // Node of each row of the arrays.
    const std::vector<int32_t> &node_at() const { return node_at_; }
    const std::vector<Front> &fronts() const { return fronts_; }
    const std::vector<std::vector<int32_t>> &children() const { return children_; }
    // The columns that are the rows of each front, and the slots of these.
    const std::vector<int32_t> &rows() const { return rows_; }
    const std::vector<int32_t> &row_slots() const { return row_slots_; }
    // Edges of each row of the arrays to later columns, and where they end.
    const std::vector<LaterEdge> &edges() const { return edges_; }
    const std::vector<int32_t> &edge_end() const { return edge_end_; }
    // Fronts above all domains, in the order of elimination, and their columns.
    const std::vector<int32_t> &top() const { return top_; }
    int32_t top_slots() const { return top_slots_; }
    int32_t stack_slots() const { return stack_slots_; }
    const std::vector<Domain> &domains() const { return domains_; }
    // The fronts of all domains in the order of the walk, 2 f on the way down and 2 f + 1 up.
    const std::vector<int32_t> &visits() const { return visits_; }

  private:
    // The rows of a front: later neighbours of its columns, and rows of its children.
    bool find_rows(const Neighbours &graph, int64_t max_entries) {
        std::vector<int32_t> seen(n_, -1);
        for (size_t f = 0; f < fronts_.size(); ++f) {
            Front &front = fronts_[f];
            const int32_t end = front.begin + front.columns;
            front.first_row = static_cast<int32_t>(rows_.size());
            const auto add = [&](int32_t column) {
                if (column < end || seen[column] == static_cast<int32_t>(f)) return;
                seen[column] = static_cast<int32_t>(f);
                rows_.push_back(column);
            };
            for (int32_t k = front.begin; k < end; ++k)
                for (int32_t e = graph.start[order_[k]]; e < graph.start[order_[k] + 1]; ++e)
                    add(column_[graph.node[e]]);
            for (const int32_t child : children_[f])
                for (int32_t k = 0; k < fronts_[child].rows; ++k)
                    add(rows_[fronts_[child].first_row + k]);
            std::sort(rows_.begin() + front.first_row, rows_.end());
            front.rows = static_cast<int32_t>(rows_.size()) - front.first_row;
            entries_ += front_entries(front.columns, front.rows);
            if (entries_ > max_entries || rows_.size() >> 31) return fits_ = false;
        }
        return true;
    }

    // Subtrees for threads to share. They follow from the graph alone, so that no sum depends on
    // the number of threads.
    void choose_domains() {
        constexpr int32_t kNodes = 4096, kMost = 8;
        const int32_t share = std::max(n_ / std::clamp(n_ / kNodes, int32_t{1}, kMost), 1);
        std::vector<int32_t> size(fronts_.size());
        for (size_t f = 0; f < fronts_.size(); ++f) {
            size[f] = fronts_[f].columns;
            for (const int32_t child : children_[f]) size[f] += size[child];
        }
        std::vector<int32_t> roots, waiting;
        for (size_t f = fronts_.size(); f-- > 0;)
            if (fronts_[f].parent < 0) waiting.push_back(static_cast<int32_t>(f));
        while (!waiting.empty()) {  // those that are too large are cut at their root
            const int32_t root = waiting.back();
            waiting.pop_back();
            if (size[root] <= share + share / 4 || children_[root].empty()) {
                roots.push_back(root);
                continue;
            }
            top_.push_back(root);
            waiting.insert(waiting.end(), children_[root].begin(), children_[root].end());
        }
        std::sort(top_.begin(), top_.end());
        std::sort(roots.begin(), roots.end());
        int32_t nodes = 0;  // of the present domain; small subtrees share one
        for (const int32_t root : roots) {
            if (domains_.empty() || nodes + size[root] > share + share / 4) {
                domains_.push_back({static_cast<int32_t>(visits_.size()), 0, {}});
                nodes = 0;
            }
            nodes += size[root];
            walk(root);
            Domain &domain = domains_.back();
            domain.end_visit = static_cast<int32_t>(visits_.size());
            for (int32_t f = fronts_[root].parent; f >= 0; f = fronts_[f].parent)
                if (std::find(domain.above.begin(), domain.above.end(), f) == domain.above.end())
                    domain.above.push_back(f);
        }
    }

    void walk(int32_t root) {  // without recursion, as a path of nodes makes a deep tree
        std::vector<std::pair<int32_t, size_t>> path{{root, 0}};
        visits_.push_back(2 * root);
        while (!path.empty()) {
            auto &[front, next] = path.back();
            if (next < children_[front].size()) {
                const int32_t child = children_[front][next++];
                visits_.push_back(2 * child);
                path.emplace_back(child, 0);
            } else {
                visits_.push_back(2 * front + 1);
                path.pop_back();
            }
        }
    }

    // The fronts above the domains have a place of their own each; in a domain, one place serves
    // all fronts of which no two are above each other.
    void give_slots() {
        for (const int32_t f : top_) {
            fronts_[f].slot = top_slots_;
            top_slots_ += fronts_[f].columns;
        }
        stack_slots_ = top_slots_;
        for (const int32_t visit : visits_) {
            if (visit % 2) continue;
            Front &front = fronts_[visit / 2];
            const bool is_root = front.parent < 0 || is_top(front.parent);
            const Front *parent = is_root ? nullptr : &fronts_[front.parent];
            front.slot = is_root ? top_slots_ : parent->slot + parent->columns;
            stack_slots_ = std::max(stack_slots_, front.slot + front.columns);
        }
        row_slots_.resize(rows_.size());
        for (size_t k = 0; k < rows_.size(); ++k) row_slots_[k] = slot(rows_[k]);
    }

    bool is_top(int32_t f) const { return std::binary_search(top_.begin(), top_.end(), f); }

    int32_t slot(int32_t column) const {
        const Front &front = fronts_[front_of_[column]];
        return front.slot + column - front.begin;
    }

    // Lays out the fronts in the order in which a walk comes to them.
    void give_places(const int32_t *edges) {
        std::vector<int32_t> walk(top_.rbegin(), top_.rend());
        for (const int32_t visit : visits_)
            if (visit % 2 == 0) walk.push_back(visit / 2);
        const auto ends = [&](size_t e) {
            const int32_t a = column_[edges[2 * e]], b = column_[edges[2 * e + 1]];
            return std::make_pair(std::min(a, b), std::max(a, b));
        };
        std::vector<int32_t> next(n_, 0);  // of each column: number of its edges, then their place
        for (size_t e = 0; e < n_edges_; ++e) ++next[ends(e).first];
        int32_t place = 0, edge = 0;
        int64_t entries = 0;
        node_at_.reserve(n_);
        edge_end_.reserve(n_);
        for (const int32_t f : walk) {
            Front &front = fronts_[f];
            front.place = place;
            front.first_edge = edge;
            front.values = entries;
            place += front.columns;
            entries += front_entries(front.columns, front.rows);
            for (int32_t k = front.begin; k < front.begin + front.columns; ++k) {
                node_at_.push_back(order_[k]);
                edge += std::exchange(next[k], edge);
                edge_end_.push_back(edge);
            }
        }
        edges_.resize(n_edges_);
        for (size_t e = 0; e < n_edges_; ++e) {
            const auto [first, later] = ends(e);
            edges_[next[first]++] = {slot(later), later, static_cast<int32_t>(e)};
        }
        for (size_t row = 0, begin = 0; row < edge_end_.size(); begin = edge_end_[row++])
            std::sort(edges_.begin() + begin, edges_.begin() + edge_end_[row],
                      [](const LaterEdge &a, const LaterEdge &b) { return a.column < b.column; });
    }

    int32_t n_;
    size_t n_edges_;
    bool fits_ = true;
    int64_t entries_ = 0;
    std::vector<int32_t> order_, column_, node_at_;  // node of each column, column of each node
    std::vector<int32_t> front_of_, rows_, row_slots_, edge_end_, top_, visits_;
    std::vector<Front> fronts_;
    std::vector<std::vector<int32_t>> children_;
    std::vector<LaterEdge> edges_;
    int32_t top_slots_ = 0, stack_slots_ = 0;
    std::vector<Domain> domains_;
};

}  // namespace pfeseg
