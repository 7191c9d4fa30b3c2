// The innermost loops over long lines of numbers, shared by every compiled variant.
//
// Only plain pointers live here: dense_loops.cpp is compiled once per instruction set, and
// anything from the standard library that it instantiated could be merged by the linker into
// the baseline build. No loop mixes its lines or sums in an order that the instruction set
// decides, so all variants give the same bytes.
#pragma once

#include <cstdint>

namespace pfeseg {

template <class T>
struct LineLoops {
    // out[i] = start + sum_k weights[k] lines[k][i], summed in the order of the weights.
    void (*weighted_sum)(const T *const *lines, const T *weights, int64_t count, T start,
                         int64_t size, T *out);
    // Where value[i] < least[i], takes over the value, and `index` as a number.
    void (*keep_least)(const T *value, T index, int64_t size, T *least, T *least_index);
    // lower[i] = min(bound[i], max(value[i], 0)).
    void (*bounded)(const T *value, const T *bound, int64_t size, T *lower);
    // top[i] = max(top[i], value[i]).
    void (*raise)(const T *value, int64_t size, T *top);
    // sum_i weights[i] value[i].
    double (*weighted_total)(const T *value, const double *weights, int64_t size);
};

struct DenseLoops {
    LineLoops<float> single;
    LineLoops<double> exact;

    // value[i] = exp(value[i] - top[i]), where that is not above 1; adds them to total.
    void (*exponentials)(const double *top, int64_t size, double *value, double *total);
    // value[i] /= total[i].
    void (*divide)(const double *total, int64_t size, double *value);

    // Linear RGB to CIELAB, pixel by pixel; out is (size, 3).
    void (*lab)(const float *red, const float *green, const float *blue, int64_t size, float *out);

    // sum[i] += (p[i] - q[i])^2.
    void (*add_squares)(const float *p, const float *q, int64_t size, float *sum);
    // The same over p[i] + q[i], which is not negative.
    void (*add_chi_squares)(const float *p, const float *q, int64_t size, float *sum);
    // value[i] = sqrt(value[i]).
    void (*roots)(int64_t size, float *value);

    // sum_i (p[i] - q[i])^2, and the same over p[i] + q[i] where that is above 0.
    double (*squared_distance)(const double *p, const double *q, int64_t size);
    double (*chi_square)(const double *p, const double *q, int64_t size);
};

DenseLoops baseline_loops();
#ifdef PFESEG_HAS_AVX2
DenseLoops avx2_loops();
#endif

}  // namespace pfeseg
