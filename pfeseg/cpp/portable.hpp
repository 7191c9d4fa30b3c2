// What compilers spell differently: GCC and clang one way, MSVC another.
//
// For the files that are compiled once per instruction set too, so all of it is inlined.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__GNUC__) || defined(__clang__)
#define PFESEG_GNU
#define PFESEG_ALWAYS_INLINE inline __attribute__((always_inline))
#else
#include <intrin.h>
#define PFESEG_ALWAYS_INLINE __forceinline
#pragma fp_contract(off)  // as -ffp-contract=off does: some versions would fuse
#endif

namespace pfeseg {
namespace {

// Asks for a line of memory that is needed soon.
PFESEG_ALWAYS_INLINE void prefetch(const void *place) {
#ifdef PFESEG_GNU
    __builtin_prefetch(place);
#elif defined(_M_X64)
    _mm_prefetch(static_cast<const char *>(place), _MM_HINT_T0);
#else
    __prefetch(place);
#endif
}

// The place of the lowest bit of a number that is not 0.
PFESEG_ALWAYS_INLINE size_t first_bit(uint64_t word) {
#ifdef PFESEG_GNU
    return static_cast<size_t>(__builtin_ctzll(word));
#else
    unsigned long place;
    _BitScanForward64(&place, word);
    return place;
#endif
}

// A number that one thread writes while others look at it, with no order beside other memory.
// Not std::atomic, of which the linker could merge what two instruction sets made.
PFESEG_ALWAYS_INLINE int32_t look_at(const int32_t *shared) {
#ifdef PFESEG_GNU
    return __atomic_load_n(shared, __ATOMIC_RELAXED);
#else
    return *static_cast<const volatile int32_t *>(shared);
#endif
}
PFESEG_ALWAYS_INLINE void tell(int32_t *shared, int32_t value) {
#ifdef PFESEG_GNU
    __atomic_store_n(shared, value, __ATOMIC_RELAXED);
#else
    *static_cast<volatile int32_t *>(shared) = value;
#endif
}

}  // namespace

// Whether this processor, and its system, have AVX2 and fused multiply-add.
inline bool processor_has_avx2() {
#if defined(PFESEG_GNU) && (defined(__x86_64__) || defined(__i386__))
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#elif defined(_M_X64)
    constexpr int kFma = 1 << 12, kSystemSaves = 1 << 27, kAvx2 = 1 << 5;
    constexpr unsigned kWideRegisters = 6;
    int basic[4], extended[4];
    __cpuid(basic, 0);
    if (basic[0] < 7) return false;
    __cpuid(basic, 1);
    __cpuidex(extended, 7, 0);
    return (basic[2] & kFma) && (basic[2] & kSystemSaves) &&
           (_xgetbv(0) & kWideRegisters) == kWideRegisters && (extended[1] & kAvx2);
#else
    return false;
#endif
}

}  // namespace pfeseg
