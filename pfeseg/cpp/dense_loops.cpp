// Plain loops that the compiler turns into vectors. Compiled once per instruction set;
// PFESEG_LOOPS names the function that this build exports.
#include "dense_loops.hpp"

#include <math.h>
#include <string.h>

#include "portable.hpp"

namespace pfeseg {
namespace {

constexpr int64_t kLanes = 8;  // partial sums of a reduction, whatever the width of vectors

template <class T>
T larger(T a, T b) {
    return a < b ? b : a;
}

template <class To, class From>
To same_bits(From value) {
    static_assert(sizeof(To) == sizeof(From), "bits of one size");
    To result;
    memcpy(&result, &value, sizeof(To));
    return result;
}

// Adds Count lines at once, so that the sums are loaded and stored once for all of them.
template <class T, int Count>
void add_lines(const T *const *lines, const T *weights, int64_t size, T *__restrict out) {
    const T *line[Count];
    T weight[Count];
    for (int k = 0; k < Count; ++k) line[k] = lines[k], weight[k] = weights[k];
    for (int64_t i = 0; i < size; ++i) {
        T sum = out[i];
        for (int k = 0; k < Count; ++k) sum += weight[k] * line[k][i];
        out[i] = sum;
    }
}

template <class T>
void weighted_sum(const T *const *lines, const T *weights, int64_t count, T start, int64_t size,
                  T *out) {
    using AddLines = void (*)(const T *const *, const T *, int64_t, T *);
    constexpr AddLines add_some[] = {add_lines<T, 1>, add_lines<T, 2>, add_lines<T, 3>,
                                     add_lines<T, 4>, add_lines<T, 5>, add_lines<T, 6>,
                                     add_lines<T, 7>, add_lines<T, 8>};
    constexpr int64_t most = 8, chunk = 1024;  // of sums that stay in the nearest cache
    const T *shifted[most];
    for (int64_t begin = 0; begin < size; begin += chunk) {
        const int64_t length = size - begin < chunk ? size - begin : chunk;
        T *sums = out + begin;
        for (int64_t i = 0; i < length; ++i) sums[i] = start;
        for (int64_t k = 0; k < count; k += most) {
            const int64_t taken = count - k < most ? count - k : most;
            for (int64_t j = 0; j < taken; ++j) shifted[j] = lines[k + j] + begin;
            add_some[taken - 1](shifted, weights + k, length, sums);
        }
    }
}

template <class T>
void keep_least(const T *value, T index, int64_t size, T *__restrict least,
                T *__restrict least_index) {
    for (int64_t i = 0; i < size; ++i) {
        const bool closer = value[i] < least[i];
        least[i] = closer ? value[i] : least[i];
        least_index[i] = closer ? index : least_index[i];
    }
}

template <class T>
void bounded(const T *value, const T *bound, int64_t size, T *__restrict lower) {
    for (int64_t i = 0; i < size; ++i) {
        const T positive = larger(value[i], T(0));
        lower[i] = positive < bound[i] ? positive : bound[i];
    }
}

template <class T>
void raise(const T *value, int64_t size, T *__restrict top) {
    for (int64_t i = 0; i < size; ++i) top[i] = larger(top[i], value[i]);
}

// exp(x) for x <= 0, to within two units in the last place; below -700 it is that of -700.
double exponential(double x) {
    constexpr double log2_e = 1.4426950408889634;
    constexpr double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
    constexpr double to_integer = 6755399441055744.0;  // 1.5 * 2^52, whose last bit counts ones
    x = larger(x, -700.0);
    const double shifted = x * log2_e + to_integer;
    const double whole = shifted - to_integer;
    const double r = (x - whole * ln2_high) - whole * ln2_low;  // |r| <= ln(2) / 2
    double series = 1.0 / 6227020800.0;
    constexpr double inverse_factorials[] = {1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0,
                                             1.0 / 362880.0,    1.0 / 40320.0,    1.0 / 5040.0,
                                             1.0 / 720.0,       1.0 / 120.0,      1.0 / 24.0,
                                             1.0 / 6.0,         0.5,              1.0,
                                             1.0};
    for (const double term : inverse_factorials) series = series * r + term;
    const uint64_t power = (same_bits<uint64_t>(shifted) + 1023) << 52;
    return series * same_bits<double>(power);
}

void exponentials(const double *top, int64_t size, double *__restrict value,
                  double *__restrict total) {
    for (int64_t i = 0; i < size; ++i) {
        value[i] = exponential(value[i] - top[i]);
        total[i] += value[i];
    }
}

void divide(const double *total, int64_t size, double *__restrict value) {
    for (int64_t i = 0; i < size; ++i) value[i] /= total[i];
}

// Sums term(i) in `kLanes` partial sums, which the compiler can keep in vectors.
template <class T, class Term>
T sum_of(int64_t size, Term term) {
    T partial[kLanes] = {};
    int64_t i = 0;
    for (; i + kLanes <= size; i += kLanes)
        for (int64_t lane = 0; lane < kLanes; ++lane) partial[lane] += term(i + lane);
    for (; i < size; ++i) partial[0] += term(i);
    return ((partial[0] + partial[1]) + (partial[2] + partial[3])) +
           ((partial[4] + partial[5]) + (partial[6] + partial[7]));
}

template <class T>
double weighted_total(const T *value, const double *weights, int64_t size) {
    return sum_of<double>(size, [=](int64_t i) { return weights[i] * value[i]; });
}

// The cube root of a number in [0.008, 1.1]: a third of the logarithm that its bits are, and two
// of Halley's steps.
float cube_root(float x) {
    const auto bits = static_cast<float>(same_bits<int32_t>(x));
    float y = same_bits<float>(static_cast<int32_t>(bits * (1.0f / 3)) + 709921077);
    for (int step = 0; step < 2; ++step) {
        const float cube = y * y * y;
        y = y * (cube + 2 * x) / (2 * cube + x);
    }
    return y;
}

// CIE's compression of a tristimulus value over that of white.
float compressed(float t) {
    const float root = cube_root(larger(t, 0.008f));
    return t > 0.008856f ? root : 7.787f * t + 16.0f / 116.0f;
}

void lab(const float *red, const float *green, const float *blue, int64_t size,
         float *__restrict out) {
    for (int64_t i = 0; i < size; ++i) {
        const float r = red[i], g = green[i], b = blue[i];
        // sRGB to XYZ, over the white of D65.
        const float x = compressed((0.412453f * r + 0.357580f * g + 0.180423f * b) / 0.95047f);
        const float y = compressed(0.212671f * r + 0.715160f * g + 0.072169f * b);
        const float z = compressed((0.019334f * r + 0.119193f * g + 0.950227f * b) / 1.08883f);
        out[3 * i] = 116.0f * y - 16.0f;
        out[3 * i + 1] = 500.0f * (x - y);
        out[3 * i + 2] = 200.0f * (y - z);
    }
}

void add_squares(const float *p, const float *q, int64_t size, float *__restrict sum) {
    for (int64_t i = 0; i < size; ++i) sum[i] += (p[i] - q[i]) * (p[i] - q[i]);
}

void add_chi_squares(const float *p, const float *q, int64_t size, float *__restrict sum) {
    for (int64_t i = 0; i < size; ++i)
        sum[i] += (p[i] - q[i]) * (p[i] - q[i]) / (p[i] + q[i] + 1e-6f);
}

void roots(int64_t size, float *value) {
    for (int64_t i = 0; i < size; ++i) value[i] = sqrtf(value[i]);
}

double squared_distance(const double *p, const double *q, int64_t size) {
    return sum_of<double>(size, [=](int64_t i) { return (p[i] - q[i]) * (p[i] - q[i]); });
}

double chi_square(const double *p, const double *q, int64_t size) {
    return sum_of<double>(size, [=](int64_t i) {
        const double sum = p[i] + q[i];
        return (p[i] - q[i]) * (p[i] - q[i]) / (sum > 0.0 ? sum : 1.0);
    });
}

template <class T>
LineLoops<T> line_loops() {
    return {weighted_sum<T>, keep_least<T>, bounded<T>, raise<T>, weighted_total<T>};
}

}  // namespace

DenseLoops PFESEG_LOOPS() {
    return {line_loops<float>(), line_loops<double>(), exponentials, divide, lab,       add_squares,
            add_chi_squares,     roots,                squared_distance,  chi_square};
}

}  // namespace pfeseg
