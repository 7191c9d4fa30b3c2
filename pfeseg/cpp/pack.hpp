// Some columns of one row as hardware vectors, and sums of them over the rows.
//
// For the files that are compiled once per instruction set: what they take from
// here lives in an unnamed namespace, or the linker could merge the variants.
#pragma once

#include <cstdint>

#include "vector.hpp"

namespace pfeseg {
namespace {

#ifdef __AVX2__
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

// W columns of one row, as hardware vectors.
template <class T, int W>
struct Pack {
    static constexpr int kLanes =
        kVectorBytes / sizeof(T) < W ? kVectorBytes / sizeof(T) : W;
    static constexpr int kVectors = W / kLanes;
    using Lanes = Vector<T, kLanes>;
    Lanes v[kVectors];

    static Pack load(const T *p) {
        Pack x;
        for (int k = 0; k < kVectors; ++k) x.v[k] = load_vector<Lanes>(p + k * kLanes);
        return x;
    }
    static Pack all(T value) {
        Pack x;
        for (int k = 0; k < kVectors; ++k) x.v[k] = Lanes{} + value;
        return x;
    }
    void store(T *p) const {
        for (int k = 0; k < kVectors; ++k) store_vector(p + k * kLanes, v[k]);
    }
    Pack operator+(const Pack &o) const {
        Pack x;
        for (int k = 0; k < kVectors; ++k) x.v[k] = v[k] + o.v[k];
        return x;
    }
    Pack operator-(const Pack &o) const {
        Pack x;
        for (int k = 0; k < kVectors; ++k) x.v[k] = v[k] - o.v[k];
        return x;
    }
    Pack operator*(const Pack &o) const {
        Pack x;
        for (int k = 0; k < kVectors; ++k) x.v[k] = v[k] * o.v[k];
        return x;
    }
    Pack operator*(T s) const {
        Pack x;
        for (int k = 0; k < kVectors; ++k) x.v[k] = v[k] * s;
        return x;
    }
    // *this + a b
    Pack plus(const Pack &a, const Pack &b) const {
        Pack x;
        for (int k = 0; k < kVectors; ++k) x.v[k] = multiply_add(a.v[k], b.v[k], v[k]);
        return x;
    }
    Pack plus(const Pack &a, T s) const { return plus(a, all(s)); }
    // Into [-bound, bound].
    Pack clip(T bound) const {
        Pack x;
        const Lanes top = Lanes{} + bound, bottom = Lanes{} - bound;
        for (int k = 0; k < kVectors; ++k) x.v[k] = lane_max(lane_min(v[k], top), bottom);
        return x;
    }
    Pack abs() const {
        Pack x;
        for (int k = 0; k < kVectors; ++k) x.v[k] = lane_max(-v[k], v[k]);
        return x;
    }
};

// Sums over rows: short runs in T, the runs in double.
template <class T, int W>
struct Sum {
    Pack<T, W> run = Pack<T, W>::all(0);
    double total[W] = {};

    void add(const Pack<T, W> &x) { run = run + x; }
    void add(const Pack<T, W> &x, const Pack<T, W> &y) { run = run.plus(x, y); }
    void end_run() {
        alignas(64) T lanes[W];
        run.store(lanes);
        for (int c = 0; c < W; ++c) total[c] += static_cast<double>(lanes[c]);
        run = Pack<T, W>::all(0);
    }
    void write(double *out) const {
        for (int c = 0; c < W; ++c) out[c] = total[c];
    }
};
constexpr int32_t kRunRows = 128;

template <class T, int W>
void fill_zero(T *p, int32_t n) {
    const auto zero = Pack<T, W>::all(0);
    for (int32_t i = 0; i < n; ++i) zero.store(p + int64_t{W} * i);
}

inline bool finite(double x) { return x - x == 0.0; }

}  // namespace
}  // namespace pfeseg
