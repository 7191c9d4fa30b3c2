// The system matrix of the split Bregman loop, laid out for the kernels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "incomplete_cholesky.hpp"
#include "split_bregman.hpp"

namespace pfeseg {

// A = lam M^T M + r D with its incomplete factor.
template <class T>
class SystemMatrix {
  public:
    // One weight for each entry of A above the diagonal, in that order, and
    // one degree for each row.
    SystemMatrix(const SymmetricCsr &A, const double *weights, size_t n_weights,
                 const double *degrees, double lam, double r, double relaxation) {
        UpperTriangle factor = upper_triangle(A);
        if (n_weights != factor.node.size())
            throw std::invalid_argument("weights do not match the matrix");
        factorise(factor, relaxation);
        const std::vector<int32_t> lower_start = lower_starts(factor);
        links_ = fixed_links(lower_start, factor.row_start);
        fill_rows(factor, degrees);
        make_slots(factor);
        fill_entries(A, factor, weights, first_lower_slots(lower_start));
        if (!links_) {
            lower_end_.assign(lower_start.begin() + 1, lower_start.end());
            upper_end_.assign(factor.row_start.begin() + 1, factor.row_start.end());
        }
        system_ = {A.n,
                   rows_.data(),
                   lower_.data(),
                   upper_.data(),
                   weights_.data(),
                   sqrt_degrees_.data(),
                   lower_end_.data(),
                   upper_end_.data(),
                   static_cast<T>(lam),
                   static_cast<T>(r)};
    }
    SystemMatrix(const SystemMatrix &) = delete;  // system_ points into it

    const System<T> &system() const { return system_; }
    // Links per row in either direction, or 0 where that varies.
    int links() const { return links_; }
    // Upper links of all rows, with those that only fill up a row.
    size_t upper_links() const { return upper_.size(); }

  private:
    // Where the lower links of each row would start if they were packed.
    static std::vector<int32_t> lower_starts(const UpperTriangle &factor) {
        std::vector<int32_t> start(static_cast<size_t>(factor.size()) + 1, 0);
        for (const int32_t j : factor.node) ++start[j + 1];
        for (int32_t i = 0; i < factor.size(); ++i) start[i + 1] += start[i];
        return start;
    }

    // Links per row in either direction when that number may be fixed: 2 on a
    // grid of 4 neighbours, 4 with 8; 0 where it varies too much.
    static int fixed_links(const std::vector<int32_t> &lower_start,
                           const std::vector<int32_t> &upper_start) {
        int32_t most = 0;
        for (size_t i = 1; i < upper_start.size(); ++i)
            most = std::max({most, lower_start[i] - lower_start[i - 1],
                             upper_start[i] - upper_start[i - 1]});
        const int32_t links = most <= 2 ? 2 : 4;
        const int64_t slots = int64_t{links} * static_cast<int64_t>(upper_start.size() - 1);
        const bool few_empty = 4 * int64_t{upper_start.back()} >= 3 * slots;
        return most <= 4 && few_empty ? links : 0;
    }

    // The rows but for the diagonal of A.
    void fill_rows(const UpperTriangle &factor, const double *degrees) {
        rows_.resize(factor.size());
        sqrt_degrees_.resize(factor.size());
        for (int32_t i = 0; i < factor.size(); ++i) {
            const double sqrt_degree = std::sqrt(degrees[i]);
            rows_[i] = {T(0), static_cast<T>(1.0 / factor.diagonal[i]),
                        static_cast<T>(1.0 / sqrt_degree)};
            sqrt_degrees_[i] = static_cast<T>(sqrt_degree);
        }
    }

    // Room for the links. Where their number is fixed, those that fill_entries
    // leaves alone lead from a row to itself with all entries zero.
    void make_slots(const UpperTriangle &factor) {
        const auto n = static_cast<size_t>(factor.size());
        const size_t slots = links_ ? n * links_ : factor.node.size();
        lower_.resize(slots);
        upper_.resize(slots);
        weights_.resize(slots);
        for (int32_t i = 0; i < factor.size(); ++i)
            for (int k = 0; k < links_; ++k)
                lower_[i * links_ + k] = upper_[i * links_ + k] = {i, T(0), T(0)};
    }

    // The slot of each row's first lower link. Where their number is fixed,
    // a row lacking some has its own at the end.
    std::vector<int32_t> first_lower_slots(const std::vector<int32_t> &lower_start) const {
        std::vector<int32_t> slots(lower_start.begin(), lower_start.end() - 1);
        if (!links_) return slots;
        for (int32_t i = 0; i < static_cast<int32_t>(slots.size()); ++i)
            slots[i] = (i + 1) * links_ - (lower_start[i + 1] - lower_start[i]);
        return slots;
    }

    // The entries of A and of its factor. One above the diagonal makes an upper
    // link of its row and a lower link of its column; as the rows come in
    // order, the lower links of each are sorted too.
    void fill_entries(const SymmetricCsr &A, const UpperTriangle &factor, const double *weights,
                      std::vector<int32_t> lower_next) {
        for (int32_t i = 0; i < A.n; ++i) {
            int32_t edge = factor.row_start[i];
            int32_t slot = links_ ? i * links_ : edge;
            for (int32_t k = A.indptr[i]; k < A.indptr[i + 1]; ++k) {
                const int32_t j = A.indices[k];
                const T a = normal(A.data[k]);
                if (j == i) rows_[i].a = a;
                if (j <= i) continue;
                const T minus_l = -normal(factor.values[edge]);
                weights_[slot] = static_cast<T>(weights[edge++]);
                upper_[slot++] = {j, a, minus_l};
                lower_[lower_next[j]++] = {i, a, minus_l};
            }
        }
    }

    // Subnormal numbers are slow and, as entries of A or L, mean nothing.
    static T normal(double value) {
        const T cast = static_cast<T>(value);
        return std::isnormal(cast) ? cast : T(0);
    }

    int links_ = 0;
    std::vector<Row<T>> rows_;
    std::vector<Link<T>> lower_, upper_;
    std::vector<T> weights_, sqrt_degrees_;
    std::vector<int32_t> lower_end_, upper_end_;
    System<T> system_{};
};

}  // namespace pfeseg
