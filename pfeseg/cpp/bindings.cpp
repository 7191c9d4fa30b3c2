// Python door of the compiled kernels: memory, threads and error reporting.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "contrast.hpp"
#include "incomplete_cholesky.hpp"
#include "region_merging.hpp"
#include "smoothing.hpp"
#include "split_bregman.hpp"
#include "watershed.hpp"

namespace nb = nanobind;
using namespace pfeseg;

namespace {

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Image = nb::ndarray<const T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
template <class T, int Dims>
using Result = nb::ndarray<nb::numpy, T, nb::ndim<Dims>>;

template <class T, int Dims>
Result<T, Dims> to_numpy(std::vector<T> values, std::initializer_list<size_t> shape) {
    auto *owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void *p) noexcept {
        delete static_cast<std::vector<T> *>(p);
    });
    return Result<T, Dims>(owned->data(), shape, owner);
}

// Zeroed memory for several arrays, aligned for the widest vectors. Each array
// starts at another distance from a page's beginning: equal distances make the
// processor mistake a store to one array for a store to the next.
template <class T>
class Slab {
  public:
    explicit Slab(std::initializer_list<size_t> sizes) {
        size_t bytes = 0;
        for (const size_t size : sizes) {
            bytes = (bytes + kPage - 1) / kPage * kPage + starts_.size() * kStagger;
            starts_.push_back(bytes);
            bytes += size * sizeof(T);
        }
        memory_.reset(static_cast<char *>(::operator new[](bytes, kAlignment)));
#ifdef __linux__
        madvise(memory_.get(), bytes, MADV_HUGEPAGE);  // fewer address translations
#endif
        std::fill_n(memory_.get(), bytes, char(0));
    }
    T *operator[](size_t k) const {
        return reinterpret_cast<T *>(memory_.get() + starts_[k]);
    }

  private:
    static constexpr size_t kPage = 4096, kStagger = 13 * 64;
    static constexpr std::align_val_t kAlignment{1 << 21};  // of a huge page
    struct Free {
        void operator()(char *p) const { ::operator delete[](p, kAlignment); }
    };
    std::vector<size_t> starts_;
    std::unique_ptr<char[], Free> memory_;
};

bool cpu_has_avx2() {
#ifdef PFESEG_HAS_AVX2
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

template <class T>
Kernel<T> choose_kernel(const std::string &variant, int width, int links) {
    if (variant == "baseline") return baseline_kernel<T>(width, links);
#ifdef PFESEG_HAS_AVX2
    if (variant == "avx2" && cpu_has_avx2()) return avx2_kernel<T>(width, links);
#endif
    throw std::invalid_argument("this machine has no kernel variant '" + variant + "'");
}

std::string best_variant() { return cpu_has_avx2() ? "avx2" : "baseline"; }

// Runs task(0) ... task(count - 1) on worker threads, without the GIL. The
// calling thread only watches for signals: Ctrl-C sets `cancelled`.
void run_parallel(int count, int threads, int32_t &cancelled,
                  const std::function<void(int)> &task) {
    std::atomic<int> next{0};
    int running = std::min(count, threads);
    std::mutex mutex;
    std::condition_variable finished;
    std::vector<std::thread> workers;
    const auto work = [&] {
        for (int i; (i = next.fetch_add(1)) < count;) task(i);
        const std::lock_guard<std::mutex> lock(mutex);
        --running;
        finished.notify_one();
    };
    try {
        for (int k = running; k > 0; --k) workers.emplace_back(work);
    } catch (...) {  // no more threads to be had: end those that run
        next = count;
        for (auto &worker : workers) worker.join();
        throw;
    }
    bool interrupted = false;
    {
        nb::gil_scoped_release release;
        std::unique_lock<std::mutex> lock(mutex);
        const auto done = [&] { return running == 0; };
        while (!finished.wait_for(lock, std::chrono::milliseconds(50), done)) {
            lock.unlock();
            {
                nb::gil_scoped_acquire acquire;
                interrupted = interrupted || PyErr_CheckSignals() != 0;
            }
            if (interrupted) __atomic_store_n(&cancelled, 1, __ATOMIC_RELAXED);
            lock.lock();
        }
        lock.unlock();
        for (auto &worker : workers) worker.join();
    }
    if (interrupted) throw nb::python_error();
}

// The split Bregman loop on one system matrix A = lam M^T M + r D, for any
// number of columns, cut into blocks that run on threads independently.
template <class T>
class SplitBregman {
  public:
    // A as symmetric CSR with sorted indices; one weight for each entry above
    // the diagonal, in that order.
    SplitBregman(Vector<int32_t> indptr, Vector<int32_t> indices, Vector<double> data,
                 Vector<double> weights, Vector<double> degrees, double lam, double r,
                 double relaxation, const std::string &variant)
        : variant_(variant) {
        const auto n = static_cast<int32_t>(degrees.size());
        UpperTriangle factor = upper_triangle(n, indptr.data(), indices.data(), data.data());
        if (weights.size() != factor.node.size())
            throw std::invalid_argument("weights do not match the matrix");
        factorise(factor, relaxation);
        const std::vector<int32_t> &upper_start = factor.row_start;
        std::vector<int32_t> lower_start(static_cast<size_t>(n) + 1, 0);
        for (const int32_t j : factor.node) ++lower_start[j + 1];
        for (int32_t i = 0; i < n; ++i) lower_start[i + 1] += lower_start[i];

        links_ = fixed_links(lower_start, upper_start);
        const size_t slots = links_ ? static_cast<size_t>(n) * links_ : factor.node.size();
        rows_.resize(n);
        sqrt_degrees_.resize(n);
        lower_.resize(slots);
        upper_.resize(slots);
        weights_.resize(slots);
        std::vector<int32_t> lower_next(n);
        for (int32_t i = 0; i < n; ++i) {
            const double sqrt_degree = std::sqrt(degrees.data()[i]);
            rows_[i] = {T(0), static_cast<T>(1.0 / factor.diagonal[i]),
                        static_cast<T>(1.0 / sqrt_degree)};
            sqrt_degrees_[i] = static_cast<T>(sqrt_degree);
            for (int k = 0; k < links_; ++k)
                lower_[i * links_ + k] = upper_[i * links_ + k] = {i, T(0), T(0)};
            lower_next[i] = links_ ? (i + 1) * links_ - (lower_start[i + 1] - lower_start[i])
                                   : lower_start[i];
        }
        for (int32_t i = 0; i < n; ++i) {
            int32_t edge = upper_start[i];
            int32_t slot = links_ ? i * links_ : edge;
            for (int32_t k = indptr.data()[i]; k < indptr.data()[i + 1]; ++k) {
                const int32_t j = indices.data()[k];
                const T a = normal(data.data()[k]);
                if (j == i) rows_[i].a = a;
                if (j <= i) continue;
                const T minus_l = -normal(factor.values[edge]);
                weights_[slot] = static_cast<T>(weights.data()[edge++]);
                upper_[slot++] = {j, a, minus_l};
                lower_[lower_next[j]++] = {i, a, minus_l};
            }
        }
        if (!links_) {
            lower_end_.assign(lower_start.begin() + 1, lower_start.end());
            upper_end_.assign(upper_start.begin() + 1, upper_start.end());
        }
        system_ = {n,
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

    SplitBregman(const SplitBregman &) = delete;

    // Begins a loop with target F, (n, d).
    void start(Matrix<T> F, int threads) {
        if (F.shape(0) != static_cast<size_t>(system_.n) || F.shape(1) < 1)
            throw std::invalid_argument("F must have shape (n, d)");
        if (threads < 1) throw std::invalid_argument("at least one thread is needed");
        allocate_blocks(static_cast<int>(F.shape(1)), threads);
        for (OwnedBlock &block : blocks_) block.read(F.data(), system_.n, columns_);
        run(threads, [this](OwnedBlock &block) {
            block.kernel.start(system_, block.data);
            return Status::ok;
        });
    }

    // Runs `iterations` more split Bregman iterations. Returns, each with one
    // row per iteration and one column per channel: ||M y||_1,
    // ||D^1/2 y - f||^2, PCG iterations, and 1 where they hit the cap.
    std::tuple<Result<double, 2>, Result<double, 2>, Result<int32_t, 2>, Result<int32_t, 2>>
    advance(
        int iterations, double rtol, int max_pcg_iterations, int threads) {
        const size_t size = static_cast<size_t>(iterations) * columns_;
        std::vector<double> energy(size), fidelity(size);
        std::vector<int32_t> pcg(size), capped(size);
        run(threads, [&](OwnedBlock &block) {
            for (int t = 0; t < iterations; ++t) {
                const Status status = block.kernel.iterate(
                    system_, block.data, rtol, max_pcg_iterations, &cancelled_);
                if (status != Status::ok) return status;
                const size_t at = static_cast<size_t>(t) * columns_ + block.first;
                for (int c = 0; c < block.used(columns_); ++c) {
                    energy[at + c] = block.data.energy[c];
                    fidelity[at + c] = block.data.fidelity[c];
                    pcg[at + c] = block.data.pcg_iterations[c];
                    capped[at + c] = block.data.capped[c];
                }
            }
            return Status::ok;
        });
        const std::initializer_list<size_t> shape{static_cast<size_t>(iterations),
                                                  static_cast<size_t>(columns_)};
        return {to_numpy<double, 2>(std::move(energy), shape),
                to_numpy<double, 2>(std::move(fidelity), shape),
                to_numpy<int32_t, 2>(std::move(pcg), shape),
                to_numpy<int32_t, 2>(std::move(capped), shape)};
    }

    Result<T, 2> solution() const {
        std::vector<T> Y(static_cast<size_t>(system_.n) * columns_);
        for (const OwnedBlock &block : blocks_) block.write(Y.data(), system_.n, columns_);
        return to_numpy<T, 2>(std::move(Y),
                              {static_cast<size_t>(system_.n), static_cast<size_t>(columns_)});
    }

  private:
    struct OwnedBlock {
        int first, width;
        Kernel<T> kernel;
        Slab<T> memory;
        Block<T> data{};
        Status status = Status::ok;

        OwnedBlock(int first_, int width_, size_t n, size_t m, Kernel<T> kernel_)
            : first(first_),
              width(width_),
              kernel(kernel_),
              memory({n * width, n * width, n * width, n * width, n * width, n * width,
                      m * width}) {
            size_t k = 0;
            for (T **array : {&data.Y, &data.X, &data.F, &data.R, &data.V, &data.P, &data.U})
                *array = memory[k++];
        }
        int used(int columns) const { return std::min(width, columns - first); }
        void read(const T *F, int32_t n, int columns) {
            for (int32_t i = 0; i < n; ++i)
                std::copy_n(F + int64_t{i} * columns + first, used(columns),
                            data.F + int64_t{i} * width);
        }
        void write(T *Y, int32_t n, int columns) const {
            for (int32_t i = 0; i < n; ++i)
                for (int c = 0; c < used(columns); ++c)  // + 0 turns -0 into 0
                    Y[int64_t{i} * columns + first + c] = data.Y[int64_t{i} * width + c] + T(0);
        }
    };

    // An even share of the columns for each thread, in the widths that exist.
    void allocate_blocks(int columns, int threads) {
        const int share = (columns + threads - 1) / threads;
        if (columns == columns_ && share == share_) return;
        blocks_.clear();
        columns_ = columns;
        share_ = share;
        for (int first = 0; first < columns; first += blocks_.back().width) {
            const int width = fitting_width(std::min(share, columns - first));
            blocks_.emplace_back(first, width, system_.n, upper_.size(),
                                 choose_kernel<T>(variant_, width, links_));
        }
    }

    static int fitting_width(int columns) {
        return columns > 8 ? 16 : columns > 4 ? 8 : 4;
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

    // Subnormal numbers are slow and, as entries of A or L, mean nothing.
    static T normal(double value) {
        const T cast = static_cast<T>(value);
        return std::isnormal(cast) ? cast : T(0);
    }

    template <class Task>
    void run(int threads, Task task) {
        __atomic_store_n(&cancelled_, 0, __ATOMIC_RELAXED);
        run_parallel(static_cast<int>(blocks_.size()), threads, cancelled_,
                     [&](int k) { blocks_[k].status = task(blocks_[k]); });
        for (const OwnedBlock &block : blocks_) {
            if (block.status == Status::not_finite)
                throw std::runtime_error("NaN or infinity in the conjugate gradient");
            if (block.status == Status::indefinite)
                throw std::runtime_error("the system matrix is not positive definite");
        }
    }

    std::string variant_;
    std::vector<Row<T>> rows_;
    std::vector<Link<T>> lower_, upper_;
    std::vector<T> weights_, sqrt_degrees_;
    std::vector<int32_t> lower_end_, upper_end_;
    int links_ = 0;  // per row in either direction, or 0 where that varies
    System<T> system_{};
    int columns_ = 0, share_ = 0;
    std::vector<OwnedBlock> blocks_;
    int32_t cancelled_ = 0;
};

// L as (indptr, indices, values) by columns, which is L^T by rows, and the pivots.
std::tuple<Result<int32_t, 1>, Result<int32_t, 1>, Result<double, 1>, Result<double, 1>>
incomplete_cholesky(Vector<int32_t> indptr, Vector<int32_t> indices, Vector<double> data,
                    double relaxation) {
    const auto n = static_cast<int32_t>(indptr.size() - 1);
    UpperTriangle u = upper_triangle(n, indptr.data(), indices.data(), data.data());
    factorise(u, relaxation);
    const size_t entries = u.node.size(), size = static_cast<size_t>(n);
    return {to_numpy<int32_t, 1>(std::move(u.row_start), {size + 1}),
            to_numpy<int32_t, 1>(std::move(u.node), {entries}),
            to_numpy<double, 1>(std::move(u.values), {entries}),
            to_numpy<double, 1>(std::move(u.diagonal), {size})};
}

// An image filtered along its columns and then along its rows.
template <class T>
Result<T, 3> correlate(Image<T> image, Vector<double> down, Vector<double> right) {
    const size_t height = image.shape(0), width = image.shape(1), channels = image.shape(2);
    if (!image.size() || down.size() % 2 == 0 || right.size() % 2 == 0)
        throw std::invalid_argument("an image that is not empty and odd filters are needed");
    const std::vector<T> along_y(down.data(), down.data() + down.size());
    const std::vector<T> along_x(right.data(), right.data() + right.size());
    std::vector<T> half(image.size()), result(image.size());
    {
        nb::gil_scoped_release release;
        correlate_axis(image.data(), 1, height, width * channels, along_y, half.data());
        correlate_axis(half.data(), height, width, channels, along_x, result.data());
    }
    return to_numpy<T, 3>(std::move(result), {height, width, channels});
}

// The basins of all minima of a relief, 1, 2, ...
Result<int32_t, 2> basins(Matrix<float> relief) {
    const size_t height = relief.shape(0), width = relief.shape(1);
    std::vector<int32_t> markers(height * width);
    {
        nb::gil_scoped_release release;
        mark_minima(relief.data(), height, width, markers.data());
        flood(relief.data(), height, width, markers.data());
    }
    return to_numpy<int32_t, 2>(std::move(markers), {height, width});
}

// Markers spread over the pixels marked 0.
Result<int32_t, 2> watershed(Matrix<float> relief, Matrix<int32_t> markers) {
    const size_t height = relief.shape(0), width = relief.shape(1);
    if (markers.shape(0) != height || markers.shape(1) != width)
        throw std::invalid_argument("relief and markers must have one shape");
    std::vector<int32_t> result(markers.data(), markers.data() + markers.size());
    {
        nb::gil_scoped_release release;
        flood(relief.data(), height, width, result.data());
    }
    return to_numpy<int32_t, 2>(std::move(result), {height, width});
}

// Contrast across the edges of each pixel with its right and with its lower neighbour.
std::tuple<Result<float, 2>, Result<float, 2>> oriented_contrast(
    Image<float> image, int reach, bool chi_square) {
    const size_t height = image.shape(0), width = image.shape(1);
    if (!height || !width || reach < 1 || reach % 2 == 0)
        throw std::invalid_argument("an image that is not empty and an odd reach are needed");
    std::vector<float> right(height * (width - 1)), down((height - 1) * width);
    const Distance kind = chi_square ? Distance::chi_square : Distance::euclidean;
    const auto channels = static_cast<int>(image.shape(2));
    {
        nb::gil_scoped_release release;
        edge_contrast(image.data(), height, width, channels, reach, kind, true, right.data());
        edge_contrast(image.data(), height, width, channels, reach, kind, false, down.data());
    }
    return {to_numpy<float, 2>(std::move(right), {height, width - 1}),
            to_numpy<float, 2>(std::move(down), {height - 1, width})};
}

template <class T>
std::vector<T> copied(const T *values, size_t size) {
    return std::vector<T>(values, values + size);
}

// Each merge as (kept, absorbed), and its height.
std::tuple<Result<int32_t, 2>, Result<double, 1>> merge_regions(
    Vector<double> areas, Matrix<double> sums, Vector<int32_t> group_ends,
    Vector<int32_t> group_is_histogram, Vector<double> group_weights, Matrix<int32_t> pairs,
    Vector<double> lengths, Vector<double> contrasts, double area_exponent) {
    const size_t n = areas.size(), m = lengths.size();
    if (sums.shape(0) != n || pairs.shape(0) != m || pairs.shape(1) != 2 || contrasts.size() != m)
        throw std::invalid_argument("the arrays of regions and edges do not fit together");
    for (size_t k = 0; k < 2 * m; ++k)
        if (pairs.data()[k] < 0 || static_cast<size_t>(pairs.data()[k]) >= n)
            throw std::invalid_argument("an edge names a region that does not exist");
    std::vector<Group> groups;
    int32_t first = 0;
    for (size_t k = 0; k < group_ends.size(); ++k) {
        const int32_t last = group_ends.data()[k];
        if (last < first || static_cast<size_t>(last) > sums.shape(1))
            throw std::invalid_argument("a group of columns does not exist");
        groups.push_back({first, last, group_is_histogram.data()[k] != 0, group_weights.data()[k]});
        first = last;
    }
    std::vector<Merge> merges;
    {
        nb::gil_scoped_release release;
        RegionMerging merging(copied(areas.data(), n), copied(sums.data(), sums.size()),
                              std::move(groups), copied(pairs.data(), 2 * m),
                              copied(lengths.data(), m), copied(contrasts.data(), m),
                              area_exponent);
        merges = merging.run();
    }
    std::vector<int32_t> regions;
    std::vector<double> heights;
    for (const Merge &merge : merges) {
        regions.insert(regions.end(), {merge.kept, merge.absorbed});
        heights.push_back(merge.height);
    }
    const size_t count = heights.size();
    return {to_numpy<int32_t, 2>(std::move(regions), {count, 2}),
            to_numpy<double, 1>(std::move(heights), {count})};
}

template <class T>
void bind_loop(nb::module_ &m, const char *name) {
    nb::class_<SplitBregman<T>>(m, name)
        .def(nb::init<Vector<int32_t>, Vector<int32_t>, Vector<double>, Vector<double>,
                      Vector<double>, double, double, double, const std::string &>())
        .def("start", &SplitBregman<T>::start)
        .def("advance", &SplitBregman<T>::advance)
        .def("solution", &SplitBregman<T>::solution);
}

}  // namespace

NB_MODULE(_kernels, m) {
    m.def("incomplete_cholesky", &incomplete_cholesky);
    m.def("best_variant", &best_variant);
    m.def("correlate", &correlate<float>);
    m.def("correlate", &correlate<double>);
    m.def("basins", &basins);
    m.def("watershed", &watershed);
    m.def("oriented_contrast", &oriented_contrast);
    m.def("merge_regions", &merge_regions);
    bind_loop<float>(m, "SplitBregmanSingle");
    bind_loop<double>(m, "SplitBregmanDouble");
}
