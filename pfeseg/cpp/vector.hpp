// A hardware vector of some numbers: GCC and clang have a type for that; elsewhere it is an
// array, of which the compiler makes what it can. Both give the same bytes.
//
// For the files that are compiled once per instruction set: what they take from
// here lives in an unnamed namespace, or the linker could merge the variants.
#pragma once

#include "portable.hpp"

#if defined(__FMA__) || (defined(_MSC_VER) && defined(__AVX2__))
#define PFESEG_FUSES
#include <immintrin.h>
#endif

namespace pfeseg {
namespace {

// a b + c, fused where the hardware can. Spelled out, since a compiler that is
// free to fuse would do so differently for different widths.
template <class V>
inline V multiply_add(const V &a, const V &b, const V &c) {
    return a * b + c;
}

#if defined(PFESEG_GNU) && !defined(PFESEG_PLAIN_VECTORS)

template <class T, int N>
struct VectorType {
    typedef T type __attribute__((vector_size(N * sizeof(T)), may_alias));
};
template <class T, int N>
using Vector = typename VectorType<T, N>::type;

template <class V, class T>
inline V load_vector(const T *p) {
    return *reinterpret_cast<const V *>(p);
}
template <class V, class T>
inline void store_vector(T *p, const V &v) {
    *reinterpret_cast<V *>(p) = v;
}
template <class V>
inline V lane_min(const V &a, const V &b) {
    return a < b ? a : b;
}
template <class V>
inline V lane_max(const V &a, const V &b) {
    return a > b ? a : b;
}

#ifdef PFESEG_FUSES
inline __m128 multiply_add(const __m128 &a, const __m128 &b, const __m128 &c) {
    return _mm_fmadd_ps(a, b, c);
}
inline __m256 multiply_add(const __m256 &a, const __m256 &b, const __m256 &c) {
    return _mm256_fmadd_ps(a, b, c);
}
inline __m256d multiply_add(const __m256d &a, const __m256d &b, const __m256d &c) {
    return _mm256_fmadd_pd(a, b, c);
}
#endif

#else

template <class T, int N>
struct Vector {
    T lane[N];

    template <class Result>
    static Vector each(Result result) {
        Vector x;
        for (int k = 0; k < N; ++k) x.lane[k] = result(k);
        return x;
    }
    Vector operator+(const Vector &o) const {
        return each([&](int k) { return lane[k] + o.lane[k]; });
    }
    Vector operator-(const Vector &o) const {
        return each([&](int k) { return lane[k] - o.lane[k]; });
    }
    Vector operator*(const Vector &o) const {
        return each([&](int k) { return lane[k] * o.lane[k]; });
    }
    Vector operator+(T s) const {
        return each([&](int k) { return lane[k] + s; });
    }
    Vector operator-(T s) const {
        return each([&](int k) { return lane[k] - s; });
    }
    Vector operator*(T s) const {
        return each([&](int k) { return lane[k] * s; });
    }
    Vector operator-() const {
        return each([&](int k) { return -lane[k]; });
    }
};

template <class V, class T>
inline V load_vector(const T *p) {
    return V::each([=](int k) { return p[k]; });
}
template <class T, int N>
inline void store_vector(T *p, const Vector<T, N> &v) {
    for (int k = 0; k < N; ++k) p[k] = v.lane[k];
}
template <class T, int N>
inline Vector<T, N> lane_min(const Vector<T, N> &a, const Vector<T, N> &b) {
    return Vector<T, N>::each([&](int k) { return a.lane[k] < b.lane[k] ? a.lane[k] : b.lane[k]; });
}
template <class T, int N>
inline Vector<T, N> lane_max(const Vector<T, N> &a, const Vector<T, N> &b) {
    return Vector<T, N>::each([&](int k) { return a.lane[k] > b.lane[k] ? a.lane[k] : b.lane[k]; });
}

#ifdef PFESEG_FUSES
inline Vector<float, 4> multiply_add(const Vector<float, 4> &a, const Vector<float, 4> &b,
                                     const Vector<float, 4> &c) {
    Vector<float, 4> x;
    _mm_storeu_ps(x.lane, _mm_fmadd_ps(_mm_loadu_ps(a.lane), _mm_loadu_ps(b.lane),
                                       _mm_loadu_ps(c.lane)));
    return x;
}
inline Vector<float, 8> multiply_add(const Vector<float, 8> &a, const Vector<float, 8> &b,
                                     const Vector<float, 8> &c) {
    Vector<float, 8> x;
    _mm256_storeu_ps(x.lane, _mm256_fmadd_ps(_mm256_loadu_ps(a.lane), _mm256_loadu_ps(b.lane),
                                             _mm256_loadu_ps(c.lane)));
    return x;
}
inline Vector<double, 4> multiply_add(const Vector<double, 4> &a, const Vector<double, 4> &b,
                                      const Vector<double, 4> &c) {
    Vector<double, 4> x;
    _mm256_storeu_pd(x.lane, _mm256_fmadd_pd(_mm256_loadu_pd(a.lane), _mm256_loadu_pd(b.lane),
                                             _mm256_loadu_pd(c.lane)));
    return x;
}
#endif

#endif

}  // namespace
}  // namespace pfeseg
