// The expectation step of a mixture whose log-densities are polynomials.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "dense_loops.hpp"

namespace pfeseg {

struct Expectation {
    std::vector<double> posterior;  // (components, n)
    std::vector<double> moments;    // (components, monomials): sums of posterior times monomial
    double log_likelihood = 0.0;    // summed over the rows
};

// monomials: (m, n); coefficients: (components, m), of the log of weight times density.
inline Expectation expect(const double *monomials, int64_t m, int64_t n,
                          const double *coefficients, int64_t components,
                          const DenseLoops &loops) {
    constexpr int64_t block = 512, factors = 16;
    Expectation found;
    found.posterior.resize(components * n);
    found.moments.assign(components * m, 0.0);
    std::vector<const double *> lines(m);
    std::vector<double> top(block), total(block);
    for (int64_t begin = 0; begin < n; begin += block) {
        const int64_t size = std::min(block, n - begin);
        for (int64_t k = 0; k < m; ++k) lines[k] = monomials + k * n + begin;
        std::fill(top.begin(), top.end(), -HUGE_VAL);
        std::fill(total.begin(), total.end(), 0.0);
        for (int64_t c = 0; c < components; ++c) {
            double *joint = &found.posterior[c * n + begin];
            loops.exact.weighted_sum(lines.data(), coefficients + c * m, m, 0.0, size, joint);
            loops.exact.raise(joint, size, top.data());
        }
        for (int64_t c = 0; c < components; ++c)
            loops.exponentials(top.data(), size, &found.posterior[c * n + begin], total.data());
        for (int64_t c = 0; c < components; ++c) {
            double *posterior = &found.posterior[c * n + begin];
            loops.divide(total.data(), size, posterior);
            for (int64_t k = 0; k < m; ++k)
                found.moments[c * m + k] += loops.exact.weighted_total(lines[k], posterior, size);
        }
        // Totals lie between 1 and the number of components: few logarithms tell their product.
        for (int64_t i = 0; i < size; i += factors) {
            double product = 1.0;
            for (int64_t j = i; j < std::min(i + factors, size); ++j) {
                product *= total[j];
                found.log_likelihood += top[j];
            }
            found.log_likelihood += std::log(product);
        }
    }
    return found;
}

}  // namespace pfeseg
