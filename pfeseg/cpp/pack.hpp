// Some columns of one row as hardware vectors, and sums of them over the rows.
//
// For the files that are compiled once per instruction set: what they take from
// here lives in an unnamed namespace, or the linker could merge the variants.
#pragma once

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include <cstdint>

namespace pfeseg {
namespace {

#ifdef __AVX2__
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

// a b + c, fused where the hardware can. Spelled out, since a compiler that is
// free to fuse would do so differently for different widths.
template <class V>
inline V multiply_add(V a, V b, V c) {
    return a * b + c;
}
#ifdef __FMA__
inline __m128 multiply_add(__m128 a, __m128 b, __m128 c) { return _mm_fmadd_ps(a, b, c); }
inline __m256 multiply_add(__m256 a, __m256 b, __m256 c) { return _mm256_fmadd_ps(a, b, c); }
inline __m128d multiply_add(__m128d a, __m128d b, __m128d c) { return _mm_fmadd_pd(a, b, c); }
inline __m256d multiply_add(__m256d a, __m256d b, __m256d c) { return _mm256_fmadd_pd(a, b, c); }
#endif

// W columns of one row, as hardware vectors.
template <class T, int W>
struct Pack {
    static constexpr int kLanes =
        kVectorBytes / sizeof(T) < W ? kVectorBytes / sizeof(T) : W;
    static constexpr int kVectors = W / kLanes;
    typedef T Vector __attribute__((vector_size(kLanes * sizeof(T)), may_alias));
    Vector v[kVectors];

    static Pack load(const T *p) {
        Pack x;
        for (int k = 0; k < kVectors; ++k)
            x.v[k] = *reinterpret_cast<const Vector *>(p + k * kLanes);
        return x;
    }
    static Pack all(T value) {
        Pack x;
        for (int k = 0; k < kVectors; ++k) x.v[k] = Vector{} + value;
        return x;
    }
    void store(T *p) const {
        for (int k = 0; k < kVectors; ++k)
            *reinterpret_cast<Vector *>(p + k * kLanes) = v[k];
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
        const Vector top = Vector{} + bound, bottom = Vector{} - bound;
        for (int k = 0; k < kVectors; ++k) {
            const Vector low = v[k] < top ? v[k] : top;
            x.v[k] = low > bottom ? low : bottom;
        }
        return x;
    }
    Pack abs() const {
        Pack x;
        for (int k = 0; k < kVectors; ++k)
            x.v[k] = v[k] < -v[k] ? -v[k] : v[k];
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
