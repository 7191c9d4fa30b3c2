// The system matrix of the split Bregman loop with its exact Cholesky factor.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "elimination.hpp"
#include "front_walk.hpp"
#include "slab.hpp"
#include "variants.hpp"
#include "workers.hpp"

namespace pfeseg {

// A = lam M^T M + r D = L Delta L^T, by the multifrontal method: each front is a dense matrix, to
// which its children add what they have left to eliminate.
template <class T>
class FactorisedMatrix {
  public:
    // One weight for each edge of the graph and one degree for each node.
    FactorisedMatrix(const Elimination &elimination, const double *weights,
                     const double *degrees, double lam, double r, const std::string &variant,
                     int threads)
        : elimination_(elimination),
          values_({static_cast<size_t>(elimination.entries())}, /*zeroed=*/false) {
        const auto n = static_cast<size_t>(elimination.n());
        std::vector<double> diagonal(n);  // by columns
        sqrt_degrees_.resize(n);
        weights_.reserve(elimination.n_edges());
        for (const Front &front : elimination.fronts())
            for (int32_t k = 0; k < front.columns; ++k) {
                const double degree = degrees[elimination.node_at()[front.place + k]];
                diagonal[front.begin + k] += r * degree;
                sqrt_degrees_[front.place + k] = static_cast<T>(std::sqrt(degree));
            }
        for (const Front &front : elimination.fronts())
            for (int32_t k = 0, e = front.first_edge; k < front.columns; ++k)
                for (; e < elimination.edge_end()[front.place + k]; ++e) {
                    const double w = weights[elimination.edges()[e].edge];
                    diagonal[front.begin + k] += lam * w * w;
                    diagonal[elimination.edges()[e].column] += lam * w * w;
                }
        for (const LaterEdge &edge : elimination.edges())
            weights_.push_back(static_cast<T>(weights[edge.edge]));
        system_ = {elimination.fronts().data(),
                   elimination.row_slots().data(),
                   values_[0],
                   elimination.edges().data(),
                   elimination.edge_end().data(),
                   weights_.data(),
                   sqrt_degrees_.data(),
                   static_cast<T>(lam),
                   static_cast<T>(r)};
        factorise(diagonal, choose_walk<T>(variant, kMaxWidth), threads);
    }
    FactorisedMatrix(const FactorisedMatrix &) = delete;  // system_ points into it

    const Elimination &elimination() const { return elimination_; }
    const FactorisedSystem<T> &system() const { return system_; }

  private:
    // Room for the fronts of one domain.
    struct Workspace {
        explicit Workspace(int32_t n) : place(n) {}
        std::vector<T> matrix;
        std::vector<int32_t> place;  // of a column in the present front
    };

    void factorise(const std::vector<double> &diagonal, const WalkKernel<T> &kernel,
                   int threads) {
        left_over_.resize(elimination_.fronts().size());
        const std::vector<Domain> &domains = elimination_.domains();
        const std::vector<int32_t> &visits = elimination_.visits();
        std::atomic<bool> failed{false};
        Workers(static_cast<int>(domains.size()), threads, [&](int d) {
            Workspace space(elimination_.n());
            for (int32_t k = domains[d].first_visit; k < domains[d].end_visit && !failed; ++k)
                if (visits[k] % 2 && !factorise_front(visits[k] / 2, diagonal, kernel, space))
                    failed = true;
        }).wait();
        Workspace space(elimination_.n());
        for (const int32_t f : elimination_.top())
            failed = failed || !factorise_front(f, diagonal, kernel, space);
        left_over_.clear();
        if (failed) throw std::runtime_error("a pivot is not positive");
    }

    bool factorise_front(int32_t f, const std::vector<double> &diagonal,
                         const WalkKernel<T> &kernel, Workspace &space) {
        const Front &front = elimination_.fronts()[f];
        const int32_t *const rows = elimination_.rows().data() + front.first_row;
        const int32_t size = front.columns + front.rows;
        space.matrix.assign(static_cast<size_t>(size) * size, T(0));
        T *const matrix = space.matrix.data();
        for (int32_t k = 0; k < front.columns; ++k) space.place[front.begin + k] = k;
        for (int32_t k = 0; k < front.rows; ++k) space.place[rows[k]] = front.columns + k;
        int32_t e = front.first_edge;
        for (int32_t k = 0; k < front.columns; ++k) {
            matrix[int64_t{k} * size + k] = static_cast<T>(diagonal[front.begin + k]);
            for (; e < elimination_.edge_end()[front.place + k]; ++e) {
                const T w = weights_[e];
                matrix[int64_t{k} * size + space.place[elimination_.edges()[e].column]] =
                    -system_.lam * w * w;
            }
        }
        for (const int32_t child : elimination_.children()[f]) add_left_over(child, space, size);
        if (!kernel.eliminate(matrix, size, front.columns)) return false;
        keep_factor(front, matrix, size);
        keep_left_over(f, front, matrix, size);
        return true;
    }

    void add_left_over(int32_t child, Workspace &space, int32_t size) {
        const Front &front = elimination_.fronts()[child];
        const int32_t *const rows = elimination_.rows().data() + front.first_row;
        const T *from = left_over_[child].data();
        for (int32_t i = 0; i < front.rows; ++i) {
            T *const row = space.matrix.data() + int64_t{space.place[rows[i]]} * size;
            for (int32_t j = i; j < front.rows; ++j) row[space.place[rows[j]]] += *from++;
        }
        std::vector<T>().swap(left_over_[child]);
    }

    void keep_left_over(int32_t f, const Front &front, const T *matrix, int32_t size) {
        std::vector<T> &kept = left_over_[f];
        kept.reserve(static_cast<size_t>(front.rows) * (front.rows + 1) / 2);
        for (int32_t i = front.columns; i < size; ++i)
            kept.insert(kept.end(), matrix + int64_t{i} * size + i, matrix + int64_t{i + 1} * size);
    }

    // Lays out the entries as front_entries says, those of L negated.
    void keep_factor(const Front &front, const T *matrix, int32_t size) {
        T *to = values_[0] + front.values;
        int32_t first = 0;
        for (int p = 0; p < panel_count(front.columns); ++p) {
            const int32_t width = panel_width(front.columns, p);
            const T *rows[kPanel];
            T inverse[kPanel];
            for (int32_t c = 0; c < width; ++c) {
                rows[c] = matrix + int64_t{first + c} * size;
                *to++ = inverse[c] = T(1) / rows[c][first + c];
            }
            for (int32_t k = 1; k < width; ++k)
                for (int32_t c = 0; c < k; ++c) *to++ = normal(-rows[c][first + k] * inverse[c]);
            for (int32_t j = first + width; j < size; ++j)
                for (int32_t c = 0; c < width; ++c) *to++ = normal(-rows[c][j] * inverse[c]);
            first += width;
        }
    }

    // Subnormal numbers are slow and mean nothing here.
    static T normal(T value) { return std::isnormal(value) ? value : T(0); }

    const Elimination &elimination_;
    Slab<T> values_;
    std::vector<T> weights_, sqrt_degrees_;
    std::vector<std::vector<T>> left_over_;  // upper triangles by rows, until the parent takes them
    FactorisedSystem<T> system_{};
};

}  // namespace pfeseg
