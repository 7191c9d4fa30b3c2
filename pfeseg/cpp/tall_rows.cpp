// Loops over the rows of a tall matrix. Compiled once per instruction set; PFESEG_ROWS names the
// function that this build exports.
#include "tall_rows.hpp"

#include "pack.hpp"

namespace pfeseg {
namespace {

template <class T>
void add_scaled(T *rows, const T *more, const T *scale, int64_t count, int columns) {
    for (int64_t k = 0; k < count; ++k) {
        const T s = scale[k];
        T *const row = rows + k * columns;
        const T *const add = more + k * columns;
        for (int c = 0; c < columns; ++c) row[c] += s * add[c];
    }
}

template <class T>
void add_gram(const T *rows, const T *scale, int64_t count, int columns, double *gram,
              double *scratch) {
    using Lanes = Pack<double, kRowStep>;
    const int width = padded(columns);
    fill_zero<double, kRowStep>(scratch, kRowsAtOnce * width / kRowStep);
    for (int64_t first = 0; first < count; first += kRowsAtOnce) {
        for (int k = 0; k < kRowsAtOnce; ++k) {
            const bool exists = first + k < count;
            const double s = !exists ? 0.0 : scale ? static_cast<double>(scale[first + k]) : 1.0;
            const T *const row = rows + (exists ? first + k : first) * columns;
            for (int c = 0; c < columns; ++c)
                scratch[k * width + c] = s * static_cast<double>(row[c]);
        }
        for (int i = 0; i < columns; ++i)
            for (int j = 0; j <= i; j += kRowStep) {
                double *const place = gram + i * width + j;
                Lanes sum = Lanes::load(place);
                for (int k = 0; k < kRowsAtOnce; ++k)
                    sum = sum.plus(Lanes::load(scratch + k * width + j), scratch[k * width + i]);
                sum.store(place);
            }
    }
}

// N rows at once, whose sums do not wait for each other.
template <class T, int N>
void split_some(T *rows, const T *factor, T *target, int columns) {
    using Lanes = Pack<T, kRowStep>;
    const int width = padded(columns);
    for (int j = 0; j < columns; j += kRowStep) {
        Lanes sum[N];
        for (int k = 0; k < N; ++k) sum[k] = Lanes::all(0);
        for (int i = 0; i < columns; ++i) {
            const Lanes entries = Lanes::load(factor + i * width + j);
            for (int k = 0; k < N; ++k) sum[k] = sum[k].plus(entries, rows[k * columns + i]);
        }
        const int taken = columns - j < kRowStep ? columns - j : kRowStep;
        alignas(64) T lanes[kRowStep];
        for (int k = 0; k < N; ++k) {
            sum[k].store(lanes);
            for (int c = 0; c < taken; ++c) target[k * columns + j + c] = lanes[c];
        }
    }
    for (int k = 0; k < N * columns; ++k) {
        rows[k] -= target[k];
        target[k] -= rows[k];
    }
}

template <class T>
void split(T *rows, const T *factor, T *target, int64_t count, int columns) {
    constexpr int n = 4;
    int64_t k = 0;
    for (; k + n <= count; k += n)
        split_some<T, n>(rows + k * columns, factor, target + k * columns, columns);
    for (; k < count; ++k)
        split_some<T, 1>(rows + k * columns, factor, target + k * columns, columns);
}

}  // namespace

template <class T>
RowLoops<T> PFESEG_ROWS() {
    return {add_scaled<T>, add_gram<T>, split<T>};
}

template RowLoops<float> PFESEG_ROWS<float>();
template RowLoops<double> PFESEG_ROWS<double>();

}  // namespace pfeseg
