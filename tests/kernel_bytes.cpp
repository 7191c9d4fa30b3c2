// Runs the kernels on made-up numbers and prints a digest of what each computes, so that compilers
// and machines can be compared. The tests build it with and without vector types.
#include <cstdint>
#include <cstdio>
#include <vector>

#define PFESEG_LOOPS baseline_loops
#define PFESEG_ROWS baseline_rows
#define PFESEG_VARIANT baseline_kernel
#define PFESEG_WALK baseline_walk
#include "dense_loops.cpp"
#include "exact_blocks.hpp"
#include "front_walk.cpp"
#include "split_bregman.cpp"
#include "tall_rows.cpp"

using namespace pfeseg;

namespace {

// Numbers in [-1, 1) that are the same everywhere, whatever the library.
class Numbers {
  public:
    template <class T>
    std::vector<T> some(size_t count) {
        std::vector<T> values(count);
        for (T &value : values) {
            state_ = state_ * 6364136223846793005u + 1442695040888963407u;
            value = static_cast<T>(static_cast<int32_t>(state_ >> 32) >> 8) / T(1 << 23);
        }
        return values;
    }

  private:
    uint64_t state_ = 1;
};

class Digest {
  public:
    template <class T>
    void add(const T *values, size_t count) {
        const auto *bytes = reinterpret_cast<const unsigned char *>(values);
        for (size_t k = 0; k < count * sizeof(T); ++k) state_ = (state_ ^ bytes[k]) * 1099511628211u;
    }
    template <class T>
    void add(const std::vector<T> &values) {
        add(values.data(), values.size());
    }
    void print(const char *name, int size) const {
        std::printf("%s %d %016llx\n", name, size, static_cast<unsigned long long>(state_));
    }

  private:
    uint64_t state_ = 14695981039346656037u;
};

// The split Bregman loop on a chain of nodes, each linked to the one before and the one after.
template <class T, int W>
void loop() {
    constexpr int32_t n = 300;
    Numbers numbers;
    std::vector<Row<T>> rows(n, {T(3), T(0.4), T(0.5)});
    std::vector<Link<T>> lower, upper;
    std::vector<int32_t> lower_end, upper_end;
    for (int32_t i = 0; i < n; ++i) {
        if (i > 0) lower.push_back({i - 1, T(-1), T(0.3)});
        if (i + 1 < n) upper.push_back({i + 1, T(-1), T(0.3)});
        lower_end.push_back(static_cast<int32_t>(lower.size()));
        upper_end.push_back(static_cast<int32_t>(upper.size()));
    }
    const std::vector<T> weights(upper.size(), T(0.7)), roots(n, T(1.2));
    const System<T> system{n,            rows.data(),      lower.data(),
                           upper.data(), weights.data(),   roots.data(),
                           lower_end.data(), upper_end.data(), T(1), T(0.5)};
    const size_t size = size_t{n} * W;
    std::vector<std::vector<T>> arrays(7);
    for (auto &array : arrays) array = numbers.some<T>(size + 64);
    // Vectors are read where their size divides the address.
    const auto aligned = [&](int k) {
        auto address = reinterpret_cast<uintptr_t>(arrays[k].data());
        return reinterpret_cast<T *>((address + 63) / 64 * 64);
    };
    Block<T> block{};
    block.Y = aligned(0), block.X = aligned(1), block.F = aligned(2), block.U = aligned(3);
    block.R = aligned(4), block.V = aligned(5), block.P = aligned(6);
    const std::vector<T> target = numbers.some<T>(size);
    for (size_t k = 0; k < size; ++k) block.F[k] = target[k];
    const Kernel<T> kernel = baseline_kernel<T>(W, 0);
    const int32_t cancelled = 0;
    kernel.start(system, block);
    for (int k = 0; k < 5; ++k) kernel.iterate(system, block, 1e-4, 20, &cancelled);
    Digest digest;
    digest.add(block.Y, size), digest.add(block.U, upper.size() * W);
    digest.add(block.energy, W), digest.add(block.fidelity, W), digest.add(block.rho, W);
    digest.print(sizeof(T) == 4 ? "loop of floats" : "loop of doubles", W);
}

// The exact loop on a grid, which is cut into several domains, with blocks of every width.
template <class T>
void walk() {
    constexpr int32_t side = 100, n = side * side;
    std::vector<int32_t> edges, positions;
    for (int32_t i = 0; i < n; ++i) {
        positions.insert(positions.end(), {i / side, i % side});
        if (i % side + 1 < side) edges.insert(edges.end(), {i, i + 1});
        if (i + side < n) edges.insert(edges.end(), {i, i + side});
    }
    const size_t n_edges = edges.size() / 2;
    const Elimination elimination(n, edges.data(), n_edges, positions.data(), 2, int64_t{1} << 40);
    const std::vector<double> weights(n_edges, 0.7), degrees(n, 1.2);
    const FactorisedMatrix<T> matrix(elimination, weights.data(), degrees.data(), 1e3, 10.0,
                                     "baseline", 2);
    Numbers numbers;
    for (const int columns : {3, 7, 13}) {
        const std::vector<T> target = numbers.some<T>(size_t{n} * columns);
        const int iterations = 3;
        std::vector<double> energy(iterations * columns), fidelity(iterations * columns);
        std::vector<int32_t> solves(iterations * columns), capped(iterations * columns);
        ExactBlocks<T> blocks(matrix, "baseline");
        const auto never = [] { return false; };
        blocks.start(target.data(), columns, 2, never);
        blocks.advance(iterations, 2,
                       {energy.data(), fidelity.data(), solves.data(), capped.data()}, never);
        std::vector<T> Y(target.size());
        blocks.write_solution(Y.data());
        Digest digest;
        digest.add(Y), digest.add(energy), digest.add(fidelity);
        digest.print(sizeof(T) == 4 ? "walk of floats" : "walk of doubles", columns);
    }
}

template <class T>
void rows() {
    Numbers numbers;
    for (const int columns : {3, 8, 13}) {
        const int width = padded(columns);
        std::vector<T> some = numbers.some<T>(50 * columns), target(50 * columns);
        const std::vector<T> factor = numbers.some<T>(columns * width + 64);
        alignas(64) static T place[16 * 16];
        for (int k = 0; k < columns * width; ++k) place[k] = factor[k];
        alignas(64) static double gram[16 * 16], scratch[kRowsAtOnce * 16];
        for (double &entry : gram) entry = 0;
        const RowLoops<T> loops = baseline_rows<T>();
        loops.add_gram(some.data(), nullptr, 50, columns, gram, scratch);
        loops.split(some.data(), place, target.data(), 50, columns);
        Digest digest;
        digest.add(some), digest.add(target), digest.add(gram, columns * width);
        digest.print(sizeof(T) == 4 ? "rows of floats" : "rows of doubles", columns);
    }
}

void lines() {
    Numbers numbers;
    const int size = 1003;
    const DenseLoops loops = baseline_loops();
    const std::vector<double> p = numbers.some<double>(size), q = numbers.some<double>(size);
    std::vector<double> value = p, total = q;
    loops.exponentials(q.data(), size, value.data(), total.data());
    std::vector<float> colours = numbers.some<float>(3 * size), lab(3 * size);
    for (float &part : colours) part = part * part;
    loops.lab(&colours[0], &colours[size], &colours[2 * size], size, lab.data());
    const double sums[] = {loops.squared_distance(p.data(), q.data(), size),
                           loops.chi_square(p.data(), q.data(), size)};
    Digest digest;
    digest.add(value), digest.add(total), digest.add(lab), digest.add(sums, 2);
    digest.print("lines", size);
}

}  // namespace

int main() {
    loop<float, 4>(), loop<float, 8>(), loop<float, 16>();
    loop<double, 4>(), loop<double, 8>(), loop<double, 16>();
    walk<float>(), walk<double>();
    rows<float>(), rows<double>();
    lines();
}
