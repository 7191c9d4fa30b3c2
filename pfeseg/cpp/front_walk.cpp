// The split Bregman loop with exact solves, front by front. Compiled once per instruction set;
// PFESEG_WALK names the function that this build exports.
//
// An iteration is that of Algorithm 2, by its line numbers, for each column y of Y:
//
//   5  y = argmin ..., the solution of A y = lam M^T (Z - U) + r D^1/2 f, eq. (13):
//      a) s = lam M^T (U_old - 2 U) + r D^1/2 (f - D^1/2 y), the residual at the last y
//      b) L v = s,  c) L^T z = Delta^-1 v,  d) y += z
//   6  Z = shrink(M y + U, 1 / lam), eq. (9)
//   7  U = U + M y - Z, eq. (10)
//
// In 5a, Z - U - M y is U_old - 2 U. As y changes by z, rounding errors of one iteration are mended
// by the next. (To solve for y itself would save reading it, but errors in single precision were 50
// times as large.) With A = L Delta L^T, the forward sweep 5b eliminates columns from the leaves of
// the tree of fronts to its root, and the backward sweep 5c goes from the root to the leaves. So
// one walk down and up again does all. `down` does 5c and 5d of a front. `up`, which knows the y of
// all neighbours, does 6 and 7, and at once 5a and 5b of the next iteration. The fronts between the
// root and where a walk is are on a stack that stays in the nearest cache; all else is read and
// written once, in the order of the walk.
#include "front_walk.hpp"

#include "pack.hpp"
#include "portable.hpp"

namespace pfeseg {
namespace {

// What a walk sums up, in short runs.
template <class T, int W>
struct Measures {
    Sum<T, W> energy, fidelity;
    int32_t rows = 0;

    void count(int32_t more) {
        rows += more;
        if (rows >= kRunRows) end_run();
    }
    void end_run() {
        energy.end_run();
        fidelity.end_run();
        rows = 0;
    }
};

// Backward sweep (5c) of one panel of N columns: z = Delta^-1 v - (entries below) z.
template <class T, int W, int N>
void panel_down(const T *values, const T *v, const T *z_later, int32_t later,
                const int32_t *slots, int32_t rows, const T *z_stack, T *z_own) {
    using Lanes = Pack<T, W>;
    Lanes z[N];
    for (int k = 0; k < N; ++k) z[k] = Lanes::load(v + k * W) * values[k];
    const T *const triangle = values + N;
    const T *entries = triangle + N * (N - 1) / 2;
    for (int32_t q = 0; q < later; ++q, entries += N) {
        const Lanes below = Lanes::load(z_later + int64_t{W} * q);
        for (int k = 0; k < N; ++k) z[k] = z[k].plus(below, entries[k]);
    }
    for (int32_t q = 0; q < rows; ++q, entries += N) {
        const Lanes below = Lanes::load(z_stack + int64_t{W} * slots[q]);
        for (int k = 0; k < N; ++k) z[k] = z[k].plus(below, entries[k]);
    }
    for (int k = N - 1; k >= 0; --k)
        for (int j = k + 1; j < N; ++j) z[k] = z[k].plus(z[j], triangle[j * (j - 1) / 2 + k]);
    for (int k = 0; k < N; ++k) z[k].store(z_own + k * W);
}

// Forward sweep (5b) of one panel of N columns: v, and what it subtracts from later rows. Returns
// where the entries of the next panel are.
template <class T, int W, int N>
const T *panel_up(const T *values, const T *sum_own, T *v_own, T *sum_later, int32_t later,
                  const int32_t *slots, int32_t rows, T *sum_stack) {
    using Lanes = Pack<T, W>;
    Lanes v[N];
    const T *const triangle = values + N;
    for (int k = 0; k < N; ++k) {
        v[k] = Lanes::load(sum_own + k * W);
        for (int j = 0; j < k; ++j) v[k] = v[k].plus(v[j], triangle[k * (k - 1) / 2 + j]);
        v[k].store(v_own + k * W);
    }
    const T *entries = triangle + N * (N - 1) / 2;
    for (int32_t q = 0; q < later; ++q, entries += N) {
        Lanes sum = Lanes::load(sum_later + int64_t{W} * q);
        for (int k = 0; k < N; ++k) sum = sum.plus(v[k], entries[k]);
        sum.store(sum_later + int64_t{W} * q);
    }
    for (int32_t q = 0; q < rows; ++q, entries += N) {
        T *const place = sum_stack + int64_t{W} * slots[q];
        Lanes sum = Lanes::load(place);
        for (int k = 0; k < N; ++k) sum = sum.plus(v[k], entries[k]);
        sum.store(place);
    }
    return entries;
}

// Asks for some memory beyond what is used now. Always inline: GCC takes calls away that do
// nothing but this.
template <class T>
PFESEG_ALWAYS_INLINE void fetch_beyond(const T *used, int64_t entries) {
    constexpr int64_t ahead = 8192, line = 64;  // bytes
    const int64_t bytes = entries * static_cast<int64_t>(sizeof(T));
    if (bytes > ahead) return;
    const char *const begin = reinterpret_cast<const char *>(used) + ahead;
    for (int64_t at = 0; at < bytes; at += line) prefetch(begin + at);
}

// Asks for what lies further on in the data and the factor, which fronts use in this order: each
// uses too little of either for the processor to see that it is a stream, unless it is large.
template <class T, int W>
PFESEG_ALWAYS_INLINE void fetch_ahead(const FactorisedSystem<T> &s, const FrontData<T> &a,
                                      const Front &front) {
    const int32_t edges = s.edge_end[front.place + front.columns - 1] - front.first_edge;
    fetch_beyond(a.V, W * data_rows(front.columns, edges));
    fetch_beyond(s.values + front.values, front_entries(front.columns, front.rows));
}

template <class T, int W>
void down(const FactorisedSystem<T> &s, const BlockData<T> &data, WalkStack<T> &stack,
          const Front &front) {
    using Lanes = Pack<T, W>;
    const FrontData<T> a = front_data(data.rows, front, W);
    const int64_t own = int64_t{W} * front.slot;
    T *const z = stack.z + own;
    const int32_t *const slots = s.row_slots + front.first_row;
    if (data.far) fetch_ahead<T, W>(s, a, front);
    // The last panel first, so its entries are found from the end.
    const T *end = s.values + front.values + front_entries(front.columns, front.rows);
    int32_t first = front.columns;
    for (int p = panel_count(front.columns) - 1; p >= 0; --p) {
        const int32_t width = panel_width(front.columns, p);
        first -= width;
        const int32_t later = front.columns - first - width;
        const T *const values =
            end - width * (width + 1) / 2 - int64_t{width} * (later + front.rows);
        const auto sweep = width == 4   ? panel_down<T, W, 4>
                           : width == 3 ? panel_down<T, W, 3>
                           : width == 2 ? panel_down<T, W, 2>
                                        : panel_down<T, W, 1>;
        sweep(values, a.V + W * first, z + W * (first + width), later, slots, front.rows,
              stack.z, z + W * first);  // 5c
        end = values;
    }
    const Lanes zero = Lanes::all(0);
    for (int32_t k = 0; k < front.columns; ++k) {
        const Lanes y = Lanes::load(a.Y + W * k) + Lanes::load(z + W * k);  // 5d
        y.store(a.Y + W * k);
        y.store(stack.y + own + W * k);
        zero.store(stack.sum + own + W * k);
    }
}

template <class T, int W>
void up(const FactorisedSystem<T> &s, const BlockData<T> &data, WalkStack<T> &stack,
        const Front &front, Measures<T, W> &measures) {
    using Lanes = Pack<T, W>;
    const T lam = s.lam, r = s.r, bound = T(1) / lam;
    const FrontData<T> a = front_data(data.rows, front, W);
    const int64_t own = int64_t{W} * front.slot;
    int32_t edge = front.first_edge;
    for (int32_t k = 0; k < front.columns; ++k) {
        const T sqrt_degree = s.sqrt_degrees[front.place + k];
        const Lanes y = Lanes::load(stack.y + own + W * k);
        const Lanes misfit = Lanes::load(a.F + W * k).plus(y, -sqrt_degree);
        measures.fidelity.add(misfit, misfit);
        Lanes residual =
            Lanes::load(stack.sum + own + W * k).plus(misfit, r * sqrt_degree);  // next 5a
        for (const int32_t end = s.edge_end[front.place + k]; edge < end; ++edge) {
            const T w = s.weights[edge];
            const int64_t there = int64_t{W} * s.edges[edge].slot;
            T *const u = a.U + int64_t{W} * (edge - front.first_edge);
            const Lanes My = (y - Lanes::load(stack.y + there)) * w;
            measures.energy.add(My.abs());
            const Lanes u_old = Lanes::load(u);
            const Lanes u_new = (My + u_old).clip(bound);  // 7; 6 is Z = (M y + u_old) - u_new
            u_new.store(u);
            const Lanes to_residual = (u_old - (u_new + u_new)) * (lam * w);  // next 5a
            residual = residual + to_residual;
            (Lanes::load(stack.sum + there) - to_residual).store(stack.sum + there);
        }
        residual.store(stack.sum + own + W * k);
    }
    measures.count(front.columns);
    const T *values = s.values + front.values;
    const int32_t *const slots = s.row_slots + front.first_row;
    int32_t first = 0;
    for (int p = 0; p < panel_count(front.columns); ++p) {
        const int32_t width = panel_width(front.columns, p);
        const auto sweep = width == 4   ? panel_up<T, W, 4>
                           : width == 3 ? panel_up<T, W, 3>
                           : width == 2 ? panel_up<T, W, 2>
                                        : panel_up<T, W, 1>;
        T *const sum = stack.sum + own + W * first;
        values = sweep(values, sum, a.V + W * first, sum + W * width,
                       front.columns - first - width, slots, front.rows, stack.sum);  // next 5b
        first += width;
    }
}

template <class T, int W>
void walk(const FactorisedSystem<T> &s, const BlockData<T> &data, WalkStack<T> &stack,
          const int32_t *visits, int32_t count) {
    Measures<T, W> measures;
    for (int32_t k = 0; k < count; ++k) {
        const Front &front = s.fronts[visits[k] >> 1];
        if (visits[k] & 1)
            up<T, W>(s, data, stack, front, measures);
        else
            down<T, W>(s, data, stack, front);
    }
    measures.end_run();
    measures.energy.write(stack.energy);
    measures.fidelity.write(stack.fidelity);
}

// Four columns at a time, so that each entry of the rest is read and written a quarter as often.
template <class T>
bool eliminate(T *matrix, int32_t size, int32_t columns) {
    const auto row = [=](int32_t i) { return matrix + int64_t{i} * size; };
    for (int32_t first = 0; first < columns; first += 4) {
        const int32_t width = columns - first < 4 ? columns - first : 4;
        for (int32_t c = 0; c < width; ++c) {
            const T *__restrict pivot_row = row(first + c);
            const T pivot = pivot_row[first + c];
            if (!(pivot > T(0)) || !finite(pivot)) return false;
            for (int32_t i = first + c + 1; i < first + width; ++i) {
                T *__restrict target = row(i);
                const T factor = pivot_row[i] / pivot;
                for (int32_t j = i; j < size; ++j) target[j] -= factor * pivot_row[j];
            }
        }
        const T *__restrict u[4];
        T inverse[4] = {};
        for (int32_t c = 0; c < 4; ++c) {
            u[c] = row(first + (c < width ? c : 0));
            if (c < width) inverse[c] = T(1) / u[c][first + c];
        }
        for (int32_t i = first + width; i < size; ++i) {
            T *__restrict target = row(i);
            const T f0 = u[0][i] * inverse[0], f1 = u[1][i] * inverse[1];
            const T f2 = u[2][i] * inverse[2], f3 = u[3][i] * inverse[3];
            for (int32_t j = i; j < size; ++j)
                target[j] -= (f0 * u[0][j] + f1 * u[1][j]) + (f2 * u[2][j] + f3 * u[3][j]);
        }
    }
    return true;
}

}  // namespace

template <class T>
WalkKernel<T> PFESEG_WALK(int width) {
    return {width == 4   ? walk<T, 4>
            : width == 8 ? walk<T, 8>
                         : walk<T, 16>,
            eliminate<T>};
}

template WalkKernel<float> PFESEG_WALK<float>(int);
template WalkKernel<double> PFESEG_WALK<double>(int);

}  // namespace pfeseg
