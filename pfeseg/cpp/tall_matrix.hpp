// What orthogonalisation does to tall matrices of few columns: by blocks of rows, on threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "variants.hpp"
#include "workers.hpp"

namespace pfeseg {

// Zeros for padded rows, aligned as the loops want them.
template <class T>
class PaddedRows {
  public:
    PaddedRows(size_t rows, int columns) : steps_(rows * padded(columns) / kRowStep) {}
    T *values() { return steps_.empty() ? nullptr : steps_.front().values; }

  private:
    struct alignas(kRowStep * sizeof(T)) Step {
        T values[kRowStep] = {};
    };
    std::vector<Step> steps_;
};

// A matrix (rows, columns), C-contiguous. Sums are over blocks of so many rows that they do not
// depend on the number of threads.
template <class T>
class TallMatrix {
  public:
    TallMatrix(T *values, size_t rows, size_t columns, int threads)
        : values_(values),
          rows_(static_cast<int64_t>(rows)),
          columns_(static_cast<int>(columns)),
          threads_(threads) {}

    // X^T X, (columns, columns), where X is this matrix with scaled rows.
    std::vector<double> gram(const T *scale) const {
        return sum_of_blocks([&](int64_t begin, int64_t count, double *sum, double *scratch) {
            loops_.add_gram(at(begin), scale ? scale + begin : nullptr, count, columns_, sum,
                            scratch);
        });
    }
    // Adds another matrix with scaled rows; X^T X of what comes out.
    std::vector<double> add(const T *other, const T *scale) {
        return sum_of_blocks([&](int64_t begin, int64_t count, double *sum, double *scratch) {
            loops_.add_scaled(at(begin), other + begin * columns_, scale + begin, count, columns_);
            loops_.add_gram(at(begin), nullptr, count, columns_, sum, scratch);
        });
    }
    // With P = X factor: X becomes X - P, and `target` 2 P - X.
    void split(const T *factor, T *target) {
        PaddedRows<T> wide(columns_, columns_);
        for (int i = 0; i < columns_; ++i)
            std::copy_n(factor + i * columns_, columns_, wide.values() + i * padded(columns_));
        for_each_block([&](int, int64_t begin, int64_t count) {
            loops_.split(at(begin), wide.values(), target + begin * columns_, count, columns_);
        });
    }

  private:
    static constexpr int64_t kBlockRows = 4096;
    static constexpr int kFewest = 12;  // blocks for which starting another thread pays

    T *at(int64_t row) const { return values_ + row * columns_; }

    int n_blocks() const { return static_cast<int>((rows_ + kBlockRows - 1) / kBlockRows); }

    template <class Task>
    void for_each_block(Task task) const {
        const int blocks = n_blocks();
        const auto run = [&](int b) {
            task(b, b * kBlockRows, std::min(kBlockRows, rows_ - b * kBlockRows));
        };
        if (threads_ == 1 || blocks < kFewest)
            for (int b = 0; b < blocks; ++b) run(b);
        else
            Workers(blocks, threads_, run).wait();
    }

    template <class AddBlock>
    std::vector<double> sum_of_blocks(AddBlock add_block) const {
        const auto d = static_cast<size_t>(columns_);
        std::vector<PaddedRows<double>> sums(n_blocks(), PaddedRows<double>(d, columns_));
        for_each_block([&](int b, int64_t begin, int64_t count) {
            PaddedRows<double> scratch(kRowsAtOnce, columns_);
            add_block(begin, count, sums[b].values(), scratch.values());
        });
        std::vector<double> gram(d * d);
        for (PaddedRows<double> &sum : sums)
            for (size_t i = 0; i < d; ++i)
                for (size_t j = 0; j < d; ++j) {
                    const size_t row = std::max(i, j);  // of the lower triangle
                    gram[i * d + j] += sum.values()[row * padded(columns_) + std::min(i, j)];
                }
        return gram;
    }

    T *values_;
    int64_t rows_;
    int columns_, threads_;
    RowLoops<T> loops_ = choose_rows<T>();
};

}  // namespace pfeseg
