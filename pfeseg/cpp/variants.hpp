// Which compiled variant of the kernels runs on this machine.
#pragma once

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "dense_loops.hpp"
#include "front_walk.hpp"
#include "portable.hpp"
#include "split_bregman.hpp"
#include "tall_rows.hpp"

namespace pfeseg {

inline bool cpu_has_avx2() {
#ifdef PFESEG_HAS_AVX2
    return processor_has_avx2();
#else
    return false;
#endif
}

inline std::string best_variant() { return cpu_has_avx2() ? "avx2" : "baseline"; }

inline bool uses_avx2(const std::string &variant) {
    if (variant == "avx2" && cpu_has_avx2()) return true;
    if (variant == "baseline") return false;
    throw std::invalid_argument("this machine has no kernel variant '" + variant + "'");
}

template <class T>
Kernel<T> choose_kernel(const std::string &variant, int width, int links) {
    [[maybe_unused]] const bool fast = uses_avx2(variant);
#ifdef PFESEG_HAS_AVX2
    if (fast) return avx2_kernel<T>(width, links);
#endif
    return baseline_kernel<T>(width, links);
}

template <class T>
WalkKernel<T> choose_walk(const std::string &variant, int width) {
    [[maybe_unused]] const bool fast = uses_avx2(variant);
#ifdef PFESEG_HAS_AVX2
    if (fast) return avx2_walk<T>(width);
#endif
    return baseline_walk<T>(width);
}

// The variant that the environment leaves, for callers that do not say which they want.
inline bool prefers_avx2() {
    const char *chosen = std::getenv("PFESEG_KERNELS");
    return cpu_has_avx2() && !(chosen && std::string(chosen) == "baseline");
}

// All variants of these give the same bytes.
inline DenseLoops dense_loops() {
#ifdef PFESEG_HAS_AVX2
    if (prefers_avx2()) return avx2_loops();
#endif
    return baseline_loops();
}

template <class T>
RowLoops<T> choose_rows() {
#ifdef PFESEG_HAS_AVX2
    if (prefers_avx2()) return avx2_rows<T>();
#endif
    return baseline_rows<T>();
}

template <class T>
const LineLoops<T> &lines_of(const DenseLoops &loops);
template <>
inline const LineLoops<float> &lines_of<float>(const DenseLoops &loops) {
    return loops.single;
}
template <>
inline const LineLoops<double> &lines_of<double>(const DenseLoops &loops) {
    return loops.exact;
}

}  // namespace pfeseg
