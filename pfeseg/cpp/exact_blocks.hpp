// The columns of the problem in blocks, solved exactly by threads that share the domains.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "column_blocks.hpp"
#include "factorised_system.hpp"
#include "slab.hpp"

namespace pfeseg {

// Rounds of tasks that threads share. The one that leads waits for tasks that others have begun,
// never for a thread that has none: on a busy machine that one may be long in coming. Waits are far
// shorter than what it takes to put a thread to sleep and to wake it; one that lasts gives way.
class Rounds {
  public:
    explicit Rounds(uint32_t tasks) : tasks_(tasks) {}

    // The leader's: opens a round, works at its tasks task(round, k), and waits for all of them.
    template <class Task>
    void lead(Task task) {
        done_ = 0;
        next_ = ++round_ << 32;
        take_tasks(task);
        wait_until([this] { return done_ == tasks_; });
    }
    // The others': work at the tasks of all rounds until the leader closes them.
    template <class Task>
    void follow(Task task) {
        uint64_t round = 0;  // the last one whose tasks were all taken
        while (true) {
            wait_until([&] { return closed_ || next_ >> 32 != round; });
            if (closed_) return;
            round = take_tasks(task);
        }
    }
    void close() { closed_ = true; }

  private:
    template <class Task>
    uint64_t take_tasks(Task task) {
        while (true) {
            const uint64_t taken = next_.fetch_add(1);
            const auto k = static_cast<uint32_t>(taken);
            if (k >= tasks_) return taken >> 32;
            task(static_cast<int>(taken >> 32), k);
            ++done_;
        }
    }
    template <class Condition>
    static void wait_until(Condition condition) {
        for (int spins = 0; !condition(); ++spins)
            if (spins > 1000) std::this_thread::yield();
    }

    const uint32_t tasks_;
    uint64_t round_ = 0;
    std::atomic<uint64_t> next_{0};  // the round, and in the lower half its next task
    std::atomic<uint32_t> done_{0};
    std::atomic<bool> closed_{false};
};

// Some columns of the problem, the first `used` of a block of a width that exists.
template <class T>
class ExactBlock {
  public:
    ExactBlock(const FactorisedMatrix<T> &matrix, int first, int used, int width,
               const std::string &variant)
        : matrix_(matrix),
          first_(first),
          used_(used),
          width_(width),
          kernel_(choose_walk<T>(variant, width)),
          memory_({size()}, /*zeroed=*/false),
          data_{memory_[0], size() * sizeof(T) > kCacheBytes},
          stack_memory_({stacks_size(), stacks_size(), stacks_size()}) {
        const Elimination &elimination = matrix.elimination();
        const auto slots = static_cast<size_t>(elimination.stack_slots()) * width;
        size_t at = 0;
        const auto next_stack = [&](size_t size) {
            WalkStack<T> stack{};
            stack.y = stack_memory_[0] + at;
            stack.z = stack_memory_[1] + at;
            stack.sum = stack_memory_[2] + at;
            at += size;
            return stack;
        };
        top_ = next_stack(static_cast<size_t>(elimination.top_slots()) * width);
        for (size_t d = 0; d < elimination.domains().size(); ++d)
            domains_.push_back(next_stack(slots));
        for (const int32_t front : elimination.top()) up_.push_back(2 * front + 1);
        for (auto front = elimination.top().rbegin(); front != elimination.top().rend(); ++front)
            down_.push_back(2 * *front);
    }

    void write_solution(T *Y, int columns) const {
        for (const Front &front : matrix_.elimination().fronts()) {
            const T *from = front_data(data_.rows, front, width_).Y;
            for (int32_t k = 0; k < front.columns; ++k, from += width_) {
                T *const to = Y + place_of(front, k, columns);
                for (int c = 0; c < used_; ++c) to[c] = from[c] + T(0);  // turns -0 into 0
            }
        }
    }

    // Takes the target F, (rows, columns), and goes back to Y = Z = U = 0: above the domains or
    // in one of them.
    void begin_top(const T *F, int columns) {
        for (const int32_t front : matrix_.elimination().top()) begin(front, F, columns);
    }
    void begin_domain(size_t d, const T *F, int columns) {
        const Elimination &elimination = matrix_.elimination();
        const Domain &domain = elimination.domains()[d];
        for (int32_t k = domain.first_visit; k < domain.end_visit; ++k)
            if (elimination.visits()[k] % 2 == 0)
                begin(elimination.visits()[k] / 2, F, columns);
    }

    // The three legs of a walk over all fronts: an iteration of the split Bregman loop.
    void walk_down() {
        kernel_.walk(matrix_.system(), data_, top_, down_.data(),
                     static_cast<int32_t>(down_.size()));
    }
    void walk_domain(size_t d) {
        const Elimination &elimination = matrix_.elimination();
        const Domain &domain = elimination.domains()[d];
        WalkStack<T> &stack = domains_[d];
        for_each_above(domain, [&](size_t at, size_t size) {
            std::copy_n(top_.y + at, size, stack.y + at);
            std::copy_n(top_.z + at, size, stack.z + at);
            std::fill_n(stack.sum + at, size, T(0));
        });
        kernel_.walk(matrix_.system(), data_, stack,
                     elimination.visits().data() + domain.first_visit,
                     domain.end_visit - domain.first_visit);
    }
    void walk_up() {
        for (size_t d = 0; d < domains_.size(); ++d)
            for_each_above(matrix_.elimination().domains()[d], [&](size_t at, size_t size) {
                for (size_t k = at; k < at + size; ++k)
                    top_.sum[k] += domains_[d].sum[k];
            });
        kernel_.walk(matrix_.system(), data_, top_, up_.data(),
                     static_cast<int32_t>(up_.size()));
    }

    // Writes what the last walk measured; false if that is not finite.
    bool write_step(size_t at, const Steps &steps) const {
        bool finite = true;
        for (int c = 0; c < used_; ++c) {
            double energy = top_.energy[c], fidelity = top_.fidelity[c];
            for (const WalkStack<T> &domain : domains_) {
                energy += domain.energy[c];
                fidelity += domain.fidelity[c];
            }
            finite = finite && std::isfinite(energy) && std::isfinite(fidelity);
            steps.energy[at + first_ + c] = energy;
            steps.fidelity[at + first_ + c] = fidelity;
            steps.pcg_iterations[at + first_ + c] = 1;
            steps.capped[at + first_ + c] = 0;
        }
        return finite;
    }

  private:
    static constexpr size_t kCacheBytes = 1 << 24;  // what the caches of common processors hold

    size_t size() const {
        const Elimination &e = matrix_.elimination();
        return static_cast<size_t>(data_rows(e.n(), static_cast<int64_t>(e.n_edges()))) * width_;
    }
    // Where the first of this block's numbers is in an array (rows, columns).
    int64_t place_of(const Front &front, int32_t k, int columns) const {
        return int64_t{matrix_.elimination().node_at()[front.place + k]} * columns + first_;
    }
    void begin(int32_t f, const T *F, int columns) {
        const Front &front = matrix_.elimination().fronts()[f];
        const FrontData<T> data = front_data(data_.rows, front, width_);
        const int32_t end = matrix_.elimination().edge_end()[front.place + front.columns - 1];
        std::fill(data.V, data.F, T(0));  // and Y
        std::fill_n(data.U, int64_t{width_} * (end - front.first_edge), T(0));
        for (int32_t k = 0; k < front.columns; ++k) {
            T *const to = data.F + int64_t{k} * width_;
            std::copy_n(F + place_of(front, k, columns), used_, to);
            std::fill(to + used_, to + width_, T(0));
        }
    }
    size_t stacks_size() const {
        const Elimination &e = matrix_.elimination();
        return (e.top_slots() + e.domains().size() * e.stack_slots()) * width_;
    }

    template <class Action>
    void for_each_above(const Domain &domain, Action action) const {
        for (const int32_t f : domain.above) {
            const Front &front = matrix_.elimination().fronts()[f];
            action(static_cast<size_t>(front.slot) * width_,
                   static_cast<size_t>(front.columns) * width_);
        }
    }

    const FactorisedMatrix<T> &matrix_;
    int first_, used_, width_;
    WalkKernel<T> kernel_;
    Slab<T> memory_;
    BlockData<T> data_;
    Slab<T> stack_memory_;
    WalkStack<T> top_{};
    std::vector<WalkStack<T>> domains_;
    std::vector<int32_t> down_, up_;
};

// The split Bregman loop on one factorised matrix, for any number of columns.
template <class T>
class ExactBlocks {
  public:
    // The matrix must outlive the blocks.
    ExactBlocks(const FactorisedMatrix<T> &matrix, const std::string &variant)
        : matrix_(matrix), variant_(variant) {}
    ExactBlocks(const ExactBlocks &) = delete;

    int32_t rows() const { return matrix_.elimination().n(); }
    int columns() const { return columns_; }

    // Begins a loop with target F, (rows, columns), which the threads of the next `advance` read.
    bool start(const T *F, int columns, int, const Interrupted &) {
        allocate(columns);
        fresh_target_ = F;
        return true;
    }

    // Runs `iterations` more split Bregman iterations; false if it was interrupted, after which
    // the loop has to be started again.
    bool advance(int iterations, int threads, const Steps &steps,
                 const Interrupted &interrupted) {
        const auto domains = static_cast<uint32_t>(matrix_.elimination().domains().size());
        const auto tasks = static_cast<uint32_t>(blocks_.size()) * domains;
        // The first walk of a loop, at Y = 0, only forms the residual of the first system.
        const T *const F = fresh_target_;
        const int first = F ? -1 : 0;
        const auto walk_domain = [&](int round, uint32_t k) {
            ExactBlock<T> &block = blocks_[k / domains];
            if (F && round == 1) block.begin_domain(k % domains, F, columns_);
            block.walk_domain(k % domains);
        };
        Rounds rounds(tasks);
        const int others = std::min(threads, static_cast<int>(tasks)) - 1;
        Workers followers(others, others, [&](int) { rounds.follow(walk_domain); });
        fresh_target_ = nullptr;
        auto asked = std::chrono::steady_clock::now();
        const auto was_interrupted = [&] {  // asked now and then only, as Python has to wait for it
            const auto now = std::chrono::steady_clock::now();
            if (now - asked < std::chrono::milliseconds(50)) return false;
            asked = now;
            return interrupted();
        };
        bool cancelled = false, finite = true;
        for (int t = first; t < iterations && finite && !cancelled; ++t) {
            for (ExactBlock<T> &block : blocks_) {
                if (t < 0) block.begin_top(F, columns_);
                block.walk_down();
            }
            rounds.lead(walk_domain);
            for (ExactBlock<T> &block : blocks_) {
                block.walk_up();
                if (t >= 0) finite &= block.write_step(static_cast<size_t>(t) * columns_, steps);
            }
            cancelled = was_interrupted();
        }
        rounds.close();
        followers.wait();
        if (cancelled) return false;
        if (!finite) throw std::runtime_error("NaN or infinity in the exact solve");
        return true;
    }

    // Writes the present Y, (rows, columns), which is 0 before the first walk.
    void write_solution(T *Y) const {
        if (fresh_target_) {
            std::fill_n(Y, int64_t{rows()} * columns_, T(0));
            return;
        }
        for (const ExactBlock<T> &block : blocks_) block.write_solution(Y, columns_);
    }

  private:
    static constexpr int kWidest = sizeof(T) == 4 ? 16 : 8;  // a row fills two vectors

    void allocate(int columns) {
        if (columns == columns_) return;
        blocks_.clear();
        columns_ = 0;  // until there is memory for all of them
        blocks_.reserve(columns / 4 + 1);
        for (int first = 0, width; first < columns; first += width) {
            const int left = columns - first;
            width = left > 8 ? kWidest : left > 4 ? 8 : 4;
            blocks_.emplace_back(matrix_, first, std::min(width, left), width, variant_);
        }
        columns_ = columns;
    }

    const FactorisedMatrix<T> &matrix_;
    std::string variant_;
    int columns_ = 0;
    const T *fresh_target_ = nullptr;
    std::vector<ExactBlock<T>> blocks_;
};

}  // namespace pfeseg
