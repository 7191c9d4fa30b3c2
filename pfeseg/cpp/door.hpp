// The door to Python: what is checked there, and the functions that bind the kernels.
//
// Numbers are checked before the kernel runs and not again: who changes an array in another thread
// meanwhile is not protected. An array of no numbers may have sides of any length, so kernels that
// go along a side refuse it.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>

#include "numpy_arrays.hpp"

namespace pfeseg {

// Raises a ValueError; compiled once, in bindings.cpp, so that the many checks stay small.
[[noreturn]] void refuse(const char *complaint);

inline void check(bool fits, const char *complaint) {
    if (!fits) refuse(complaint);
}

// Refuses numbers that are not 0 ... end - 1.
inline void check_numbers(const int32_t *numbers, size_t count, size_t end,
                          const char *complaint) {
    for (size_t k = 0; k < count; ++k)
        if (numbers[k] < 0 || static_cast<size_t>(numbers[k]) >= end)
            refuse(complaint);
}

// Returns how many there are of something; refuses a negative number.
inline size_t count_of(int n) {
    if (n < 0) refuse("there cannot be fewer than none");
    return static_cast<size_t>(n);
}

// Refuses what the kernels number in 32 bits and cannot.
inline void check_size(size_t size) {
    if (size >> 31) refuse("more than 2^31 - 1 numbers");
}

inline void check_threads(int threads) {
    check(threads >= 1, "at least one thread is needed");
}

inline constexpr const char *no_region = "a number names a region that does not exist";

inline void check_edges(const Matrix<int32_t> &edges, size_t nodes) {
    if (edges.shape(1) != 2) refuse("edges must be pairs");
    check_numbers(edges.data(), edges.size(), nodes, "an edge names a node that does not exist");
    for (size_t k = 0; k < edges.shape(0); ++k)
        if (edges.data()[2 * k] == edges.data()[2 * k + 1])
            refuse("an edge joins a node to itself");
}

namespace door {

// Each binds the kernels of one file: those of the solver,
void bind_solver(nb::module_ &m);
// what it does with embeddings,
void bind_embeddings(nb::module_ &m);
// images at their full size,
void bind_images(nb::module_ &m);
// pixels of small images,
void bind_pixels(nb::module_ &m);
// clusters,
void bind_clusters(nb::module_ &m);
// and label maps and regions.
void bind_regions(nb::module_ &m);

}  // namespace door

}  // namespace pfeseg
