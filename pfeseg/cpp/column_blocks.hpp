// The columns of the problem, cut into blocks that run on threads independently.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "portable.hpp"
#include "slab.hpp"
#include "split_bregman.hpp"
#include "system_matrix.hpp"
#include "variants.hpp"
#include "workers.hpp"

namespace pfeseg {

// What happened in some split Bregman iterations: each array has one row per
// iteration and one column per column of the problem.
struct Steps {
    double *energy;    // ||M y||_1
    double *fidelity;  // ||D^1/2 y - f||^2
    int32_t *pcg_iterations;
    int32_t *capped;  // 1 where those hit the cap
};

// Some columns of the problem, the first `used` of a block of a width that exists.
template <class T>
class ColumnBlock {
  public:
    ColumnBlock(int first, int used, int width, size_t rows, size_t upper_links,
                Kernel<T> kernel)
        : first_(first),
          used_(used),
          width_(width),
          kernel_(kernel),
          memory_({rows * width, rows * width, rows * width, rows * width, rows * width,
                   rows * width, upper_links * width}) {
        size_t k = 0;
        for (T **array : {&data_.Y, &data_.X, &data_.F, &data_.R, &data_.V, &data_.P, &data_.U})
            *array = memory_[k++];
    }

    // From F and into Y, both (rows, columns).
    void read_target(const T *F, int32_t rows, int columns) {
        for (int32_t i = 0; i < rows; ++i)
            std::copy_n(F + int64_t{i} * columns + first_, used_, data_.F + int64_t{i} * width_);
    }
    void write_solution(T *Y, int32_t rows, int columns) const {
        for (int32_t i = 0; i < rows; ++i)
            for (int c = 0; c < used_; ++c)  // + 0 turns -0 into 0
                Y[int64_t{i} * columns + first_ + c] = data_.Y[int64_t{i} * width_ + c] + T(0);
    }

    void start(const System<T> &system) {
        kernel_.start(system, data_);
        status_ = Status::ok;
    }
    void advance(const System<T> &system, int iterations, double rtol, int max_pcg_iterations,
                 const int32_t *cancelled, int columns, const Steps &steps) {
        status_ = Status::ok;
        for (int t = 0; t < iterations; ++t) {
            status_ = kernel_.iterate(system, data_, rtol, max_pcg_iterations, cancelled);
            if (status_ != Status::ok) return;
            write_step(static_cast<size_t>(t) * columns + first_, steps);
        }
    }
    void throw_if_failed() const {
        if (status_ == Status::not_finite)
            throw std::runtime_error("NaN or infinity in the conjugate gradient");
        if (status_ == Status::indefinite)
            throw std::runtime_error("the system matrix is not positive definite");
    }

  private:
    void write_step(size_t at, const Steps &steps) const {
        for (int c = 0; c < used_; ++c) {
            steps.energy[at + c] = data_.energy[c];
            steps.fidelity[at + c] = data_.fidelity[c];
            steps.pcg_iterations[at + c] = data_.pcg_iterations[c];
            steps.capped[at + c] = data_.capped[c];
        }
    }

    int first_, used_, width_;
    Kernel<T> kernel_;
    Slab<T> memory_;
    Block<T> data_{};
    Status status_ = Status::ok;
};

// The split Bregman loop on one system matrix, for any number of columns.
template <class T>
class ColumnBlocks {
  public:
    // The matrix must outlive the blocks.
    ColumnBlocks(const SystemMatrix<T> &matrix, const std::string &variant)
        : matrix_(matrix), variant_(variant) {}
    ColumnBlocks(const ColumnBlocks &) = delete;

    int32_t rows() const { return matrix_.system().n; }
    int columns() const { return columns_; }

    // Begins a loop with target F, (rows, columns). This and `advance` return
    // false if they were interrupted; the loop has to be started again then.
    bool start(const T *F, int columns, int threads, const Interrupted &interrupted) {
        allocate(columns, threads);
        for (ColumnBlock<T> &block : blocks_) block.read_target(F, rows(), columns_);
        return run(threads, interrupted,
                   [this](ColumnBlock<T> &block) { block.start(matrix_.system()); });
    }

    // When a conjugate gradient ends: at a relative residual, or after so many iterations.
    void stop_at(double rtol, int max_pcg_iterations) {
        rtol_ = rtol;
        max_pcg_iterations_ = max_pcg_iterations;
    }

    // Runs `iterations` more split Bregman iterations.
    bool advance(int iterations, int threads, const Steps &steps,
                 const Interrupted &interrupted) {
        return run(threads, interrupted, [&](ColumnBlock<T> &block) {
            block.advance(matrix_.system(), iterations, rtol_, max_pcg_iterations_, &cancelled_,
                          columns_, steps);
        });
    }

    // Writes the present Y, (rows, columns).
    void write_solution(T *Y) const {
        for (const ColumnBlock<T> &block : blocks_) block.write_solution(Y, rows(), columns_);
    }

  private:
    // An even share of the columns for each thread, in the widths that exist.
    void allocate(int columns, int threads) {
        const int share = 1 + (columns - 1) / threads;
        if (columns == columns_ && share == share_) return;
        blocks_.clear();
        columns_ = 0;  // until there is memory for all of them
        for (int first = 0, width; first < columns; first += width) {
            width = fitting_width(std::min(share, columns - first));
            blocks_.emplace_back(first, std::min(width, columns - first), width, rows(),
                                 matrix_.upper_links(),
                                 choose_kernel<T>(variant_, width, matrix_.links()));
        }
        columns_ = columns;
        share_ = share;
    }

    static int fitting_width(int columns) {
        return columns > 8 ? 16 : columns > 4 ? 8 : 4;
    }

    template <class Task>
    bool run(int threads, const Interrupted &interrupted, Task task) {
        tell(&cancelled_, 0);
        const auto cancel_if_interrupted = [&] {
            const bool yes = interrupted();
            if (yes) tell(&cancelled_, 1);
            return yes;
        };
        Workers workers(static_cast<int>(blocks_.size()), threads,
                        [&](int k) { task(blocks_[k]); });
        if (!workers.wait(cancel_if_interrupted)) return false;
        for (const ColumnBlock<T> &block : blocks_) block.throw_if_failed();
        return true;
    }

    const SystemMatrix<T> &matrix_;
    std::string variant_;
    double rtol_ = 0.0;
    int max_pcg_iterations_ = 0;
    int columns_ = 0, share_ = 0;
    std::vector<ColumnBlock<T>> blocks_;
    int32_t cancelled_ = 0;  // the kernels look at it
};

}  // namespace pfeseg
