// Incomplete Cholesky factorisation without fill, IC(0), and its modified form.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace pfeseg {

// A symmetric matrix by rows, both triangles stored, whose column indices are
// sorted and in range.
struct SymmetricCsr {
    int32_t n;
    const int32_t *indptr, *indices;
    const double *data;
};

// Strict upper triangle of a symmetric matrix by rows, with its diagonal.
// After factorisation `values` holds the rows of the unit factor's transpose
// and `diagonal` the pivots: A ~ L diag(pivots) L^T.
struct UpperTriangle {
    std::vector<int32_t> row_start;
    std::vector<int32_t> node;
    std::vector<double> values;
    std::vector<double> diagonal;

    int32_t size() const { return static_cast<int32_t>(diagonal.size()); }
};

inline UpperTriangle upper_triangle(const SymmetricCsr &A) {
    UpperTriangle upper;
    upper.row_start.assign(static_cast<size_t>(A.n) + 1, 0);
    upper.diagonal.assign(static_cast<size_t>(A.n), 0.0);
    const auto half = static_cast<size_t>(A.indptr[A.n]) / 2;
    upper.node.reserve(half);
    upper.values.reserve(half);
    for (int32_t i = 0; i < A.n; ++i) {
        for (int32_t k = A.indptr[i]; k < A.indptr[i + 1]; ++k) {
            if (A.indices[k] == i) upper.diagonal[i] = A.data[k];
            if (A.indices[k] > i) {
                upper.node.push_back(A.indices[k]);
                upper.values.push_back(A.data[k]);
            }
        }
        upper.row_start[i + 1] = static_cast<int32_t>(upper.node.size());
    }
    return upper;
}

// Factorises in place. `relaxation` is the share of each dropped fill-in that
// is moved to the diagonal: 0 gives IC(0), 1 keeps the row sums (modified).
inline void factorise(UpperTriangle &u, double relaxation) {
    for (int32_t k = 0; k < u.size(); ++k) {
        const double pivot = u.diagonal[k];
        if (!(pivot > 0.0) || !std::isfinite(pivot))
            throw std::runtime_error("pivot " + std::to_string(k) + " is " +
                                     std::to_string(pivot));
        const int32_t begin = u.row_start[k], end = u.row_start[k + 1];
        for (int32_t p = begin; p < end; ++p) {
            const int32_t i = u.node[p];
            const double factor = u.values[p] / pivot;
            u.diagonal[i] -= factor * u.values[p];
            const auto row_begin = u.node.begin() + u.row_start[i];
            const auto row_end = u.node.begin() + u.row_start[i + 1];
            for (int32_t q = p + 1; q < end; ++q) {
                const int32_t j = u.node[q];
                const double update = factor * u.values[q];
                const auto kept = std::lower_bound(row_begin, row_end, j);
                if (kept != row_end && *kept == j) {
                    u.values[kept - u.node.begin()] -= update;
                } else {
                    u.diagonal[i] -= relaxation * update;
                    u.diagonal[j] -= relaxation * update;
                }
            }
        }
        for (int32_t p = begin; p < end; ++p) u.values[p] /= pivot;
    }
}

}  // namespace pfeseg
