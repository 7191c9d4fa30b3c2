// How far a graph's edges pull: ||M y||_1 of each column.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pfeseg {

// Sum over the edges (i, j) of weights |Y_i - Y_j|, for each of the columns of Y.
template <class T>
std::vector<double> edge_energy(const int32_t *edges, const double *weights, size_t n_edges,
                                const T *Y, size_t columns) {
    std::vector<double> total(columns, 0.0);
    double *const sum = total.data();
    for (size_t e = 0; e < n_edges; ++e) {
        const T *const a = Y + columns * static_cast<size_t>(edges[2 * e]);
        const T *const b = Y + columns * static_cast<size_t>(edges[2 * e + 1]);
        for (size_t c = 0; c < columns; ++c)
            sum[c] += weights[e] * std::abs(static_cast<double>(a[c] - b[c]));
    }
    return total;
}

}  // namespace pfeseg
