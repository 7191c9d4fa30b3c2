// Loops over the rows of a tall matrix of few columns, shared by every compiled variant.
//
// As in split_bregman.hpp, only plain structs and function pointers live here.
#pragma once

#include <cstdint>

namespace pfeseg {

// Columns that the loops take at once: scratch rows are as wide as a whole number of these.
constexpr int kRowStep = 8;

static inline int padded(int columns) { return (columns + kRowStep - 1) / kRowStep * kRowStep; }

// Rows whose products are summed at once.
constexpr int kRowsAtOnce = 8;

template <class T>
struct RowLoops {
    // rows[k] += scale[k] more[k].
    void (*add_scaled)(T *rows, const T *more, const T *scale, int64_t count, int columns);
    // gram += X^T X with X = diag(scale) rows, or the rows where `scale` is null. The lower
    // triangle, its rows padded; `scratch` has kRowsAtOnce padded rows.
    void (*add_gram)(const T *rows, const T *scale, int64_t count, int columns, double *gram,
                     double *scratch);
    // With P = rows factor, of which the rows are padded: rows -= P, target = P - rows.
    void (*split)(T *rows, const T *factor, T *target, int64_t count, int columns);
};

template <class T>
RowLoops<T> baseline_rows();
#ifdef PFESEG_HAS_AVX2
template <class T>
RowLoops<T> avx2_rows();
#endif

}  // namespace pfeseg
