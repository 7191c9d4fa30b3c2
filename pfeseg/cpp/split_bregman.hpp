// Data of the split Bregman loop, shared by every compiled variant.
//
// Only plain structs and function pointers live here: split_bregman.cpp is
// compiled once per instruction set, and anything from the standard library
// that it instantiated could be merged by the linker into the baseline build.
#pragma once

#include <cstdint>

namespace pfeseg {

constexpr int kMaxWidth = 16;

// Towards a neighbour: entry of A and negated entry of the unit factor L.
template <class T>
struct Link {
    int32_t node;
    T a;
    T minus_l;
};

template <class T>
struct Row {
    T a;  // diagonal entry of A
    T inverse_pivot;
    T inverse_sqrt_degree;
};

// A = lam M^T M + r D with its incomplete factor, rows in natural order. The
// links of a row are sorted by node. With a fixed number of links per row, as
// on a pixel grid, a row lacking some has links to itself with all entries
// zero: first among the lower links, last among the upper ones.
template <class T>
struct System {
    int32_t n;
    const Row<T> *rows;
    const Link<T> *lower;  // to earlier rows
    const Link<T> *upper;  // to later rows: each edge once
    const T *weights;      // of the upper links
    const T *sqrt_degrees;
    const int32_t *lower_end;  // per row, where their number is not fixed
    const int32_t *upper_end;
    T lam;
    T r;
};

// `width` columns of the problem, interleaved: row i is [i * width, ...).
template <class T>
struct Block {
    T *Y;  // n x width, solution of the last iteration
    T *X;  // n x width, iterate of the conjugate gradient
    T *F;  // n x width, target of D^1/2 Y
    T *U;  // one row of width per upper link, Bregman vector
    T *R;  // n x width, residual
    T *V;  // n x width, result of the triangular sweeps
    T *P;  // n x width, search direction; right-hand side while that forms

    // Per column, in the norm ||D^-1/2 .||: residual and right-hand side.
    double residual2[kMaxWidth];
    double rhs2[kMaxWidth];
    double rho[kMaxWidth];       // R^T (L Delta L^T)^-1 R
    double energy[kMaxWidth];    // ||M y||_1
    double fidelity[kMaxWidth];  // ||D^1/2 y - f||_2^2
    int32_t pcg_iterations[kMaxWidth];
    int32_t iterations;  // split Bregman iterations since the start
    bool capped[kMaxWidth];  // left unconverged by the last solve
};

enum class Status : int32_t { ok, cancelled, not_finite, indefinite };

template <class T>
struct Kernel {
    // Begins at zero, and forms the first residual.
    void (*start)(const System<T> &, Block<T> &);
    // One split Bregman iteration: solve, shrink, update.
    Status (*iterate)(const System<T> &, Block<T> &, double rtol,
                      int32_t max_pcg_iterations, const int32_t *cancelled);
};

// `width` is 4, 8 or 16; `links`, either way from a row, 2, 4 or 0 for any number.
template <class T>
Kernel<T> baseline_kernel(int width, int links);
#ifdef PFESEG_HAS_AVX2
template <class T>
Kernel<T> avx2_kernel(int width, int links);
#endif

}  // namespace pfeseg
