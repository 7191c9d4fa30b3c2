// k-means: starting centres, the nearest centre of each row, and Lloyd's iterations.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "dense_loops.hpp"

namespace pfeseg {

// Rows (n, d), held as d lines of n numbers, and their squared norms.
template <class T>
class PointCloud {
  public:
    PointCloud(const T *rows, int64_t n, int64_t d, const LineLoops<T> &loops)
        : n_(n), d_(d), loops_(loops), values_(n * d), norms_(n, T(0)), lines_(d) {
        for (int64_t k = 0; k < d; ++k) {
            T *line = values_.data() + k * n;
            for (int64_t i = 0; i < n; ++i) {
                line[i] = rows[i * d + k];
                norms_[i] += line[i] * line[i];
            }
            lines_[k] = line;
        }
    }

    int64_t size() const { return n_; }
    T at(int64_t row, int64_t dimension) const { return values_[dimension * n_ + row]; }

    // The nearest of k centres, (k, d), and the squared distance to it.
    void assign(const T *centres, int64_t k, int32_t *labels, T *distances) const {
        constexpr int64_t block = 1024;
        std::vector<T> value(block), index(block), weights(k * d_), norms(k, T(0));
        for (int64_t c = 0; c < k; ++c)
            for (int64_t j = 0; j < d_; ++j) {
                const T place = centres[c * d_ + j];
                weights[c * d_ + j] = -2 * place;
                norms[c] += place * place;
            }
        std::vector<const T *> lines(d_);
        for (int64_t begin = 0; begin < n_; begin += block) {
            const int64_t size = std::min(block, n_ - begin);
            for (int64_t j = 0; j < d_; ++j) lines[j] = lines_[j] + begin;
            T *least = distances + begin;  // short of the row's own norm
            std::fill_n(least, size, std::numeric_limits<T>::infinity());
            std::fill_n(index.begin(), size, T(0));
            for (int64_t c = 0; c < k; ++c) {
                loops_.weighted_sum(lines.data(), &weights[c * d_], d_, norms[c], size,
                                    value.data());
                loops_.keep_least(value.data(), static_cast<T>(c), size, least, index.data());
            }
            for (int64_t i = 0; i < size; ++i) {
                labels[begin + i] = static_cast<int32_t>(index[i]);
                least[i] = std::max(least[i] + norms_[begin + i], T(0));
            }
        }
    }

    // reduced = min(nearest, squared distances to a row).
    void approach(int64_t row, const T *nearest, T *reduced) const {
        std::vector<const T *> lines(lines_);
        std::vector<T> weights(d_);
        for (int64_t k = 0; k < d_; ++k) weights[k] = -2 * at(row, k);
        lines.push_back(norms_.data());
        weights.push_back(T(1));
        loops_.weighted_sum(lines.data(), weights.data(), d_ + 1, norms_[row], n_, reduced);
        loops_.bounded(reduced, nearest, n_, reduced);
    }

    double total(const T *values, const double *weights) const {
        return loops_.weighted_total(values, weights, n_);
    }

  private:
    int64_t n_, d_;
    LineLoops<T> loops_;
    std::vector<T> values_, norms_;
    std::vector<const T *> lines_;
};

// The nearest of k centres of each row, and its squared distance; a few rows at a time, so that
// they need not all be copied.
template <class T>
void nearest_centres(const T *rows, int64_t n, int64_t d, const T *centres, int64_t k,
                     const LineLoops<T> &loops, int32_t *labels, T *distances) {
    constexpr int64_t part = 4096;
    for (int64_t begin = 0; begin < n; begin += part) {
        const PointCloud<T> points(rows + begin * d, std::min(part, n - begin), d, loops);
        points.assign(centres, k, labels + begin, distances + begin);
    }
}

// Greedy k-means++: after `first`, each centre is the best of `trials` rows, drawn as often as
// their weighted squared distance to the centres before says. `draws`, (centres - 1, trials), are
// uniform in [0, 1).
template <class T>
std::vector<int32_t> spread_starts(const PointCloud<T> &points, const double *weights,
                                   int32_t first, const double *draws, int64_t centres,
                                   int64_t trials) {
    const int64_t n = points.size();
    std::vector<int32_t> chosen{first};
    std::vector<T> nearest(n, std::numeric_limits<T>::infinity()), reduced(n), best(n);
    points.approach(first, nearest.data(), nearest.data());
    std::vector<double> reach(n);
    for (int64_t c = 1; c < centres; ++c) {
        double sum = 0.0;
        for (int64_t i = 0; i < n; ++i) reach[i] = sum += weights[i] * nearest[i];
        double least = std::numeric_limits<double>::infinity();
        int64_t winner = 0;
        for (int64_t t = 0; t < trials; ++t) {
            const double place = *draws++ * sum;
            const auto found = std::lower_bound(reach.begin(), reach.end(), place);
            const int64_t row = std::min<int64_t>(found - reach.begin(), n - 1);
            points.approach(row, nearest.data(), reduced.data());
            const double total = points.total(reduced.data(), weights);
            if (total < least) {
                least = total;
                winner = row;
                std::swap(best, reduced);
            }
        }
        chosen.push_back(static_cast<int32_t>(winner));
        std::swap(nearest, best);
    }
    return chosen;
}

template <class T>
struct Clustering {
    std::vector<int32_t> labels;
    std::vector<T> distances, centres;
};

// The weighted mean of the rows of each label, (k, d). A centre without rows starts anew at
// the row that fits worst.
template <class T>
std::vector<T> means_of(const T *rows, int64_t n, int64_t d, const double *weights,
                        const Clustering<T> &found, int64_t k) {
    std::vector<double> sums(k * d, 0.0), counts(k, 0.0);
    for (int64_t i = 0; i < n; ++i) {
        const int32_t label = found.labels[i];
        counts[label] += weights[i];
        for (int64_t j = 0; j < d; ++j) sums[label * d + j] += weights[i] * rows[i * d + j];
    }
    const int64_t empty = std::count(counts.begin(), counts.end(), 0.0);
    std::vector<int64_t> worst(empty ? n : 0);
    std::iota(worst.begin(), worst.end(), 0);
    std::partial_sort(worst.begin(), worst.begin() + empty, worst.end(), [&](int64_t a, int64_t b) {
        const T of_a = found.distances[a], of_b = found.distances[b];
        return of_a != of_b ? of_a > of_b : a > b;
    });
    std::vector<T> means(k * d);
    for (int64_t c = 0, taken = 0; c < k; ++c) {
        const T *anew = counts[c] == 0.0 ? rows + worst[taken++] * d : nullptr;
        for (int64_t j = 0; j < d; ++j)
            means[c * d + j] = anew ? anew[j] : static_cast<T>(sums[c * d + j] / counts[c]);
    }
    return means;
}

// Lloyd's iterations, until the squared shift of the centres is at most `enough` or no row
// changes its label.
template <class T>
Clustering<T> improve_centres(const T *rows, int64_t n, int64_t d, const double *weights,
                              std::vector<T> centres, int64_t max_iterations, double enough,
                              const LineLoops<T> &loops) {
    const PointCloud<T> points(rows, n, d, loops);
    const auto k = static_cast<int64_t>(centres.size()) / d;
    Clustering<T> found{std::vector<int32_t>(n), std::vector<T>(n), std::move(centres)};
    points.assign(found.centres.data(), k, found.labels.data(), found.distances.data());
    std::vector<int32_t> old_labels;
    for (int64_t iteration = 0; iteration < max_iterations; ++iteration) {
        std::vector<T> moved = means_of(rows, n, d, weights, found, k);
        double shift = 0.0;
        for (size_t j = 0; j < moved.size(); ++j) {
            const double step = moved[j] - found.centres[j];
            shift += step * step;
        }
        found.centres = std::move(moved);
        old_labels = found.labels;
        points.assign(found.centres.data(), k, found.labels.data(), found.distances.data());
        if (shift <= enough || found.labels == old_labels) break;
    }
    return found;
}

}  // namespace pfeseg
