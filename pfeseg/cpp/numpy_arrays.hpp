// NumPy arrays as the kernels take and return them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <utility>
#include <vector>

namespace pfeseg {

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Image = nb::ndarray<const T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
template <class T, int Dims>
using Result = nb::ndarray<nb::numpy, T, nb::ndim<Dims>>;

template <class T, int Dims>
Result<T, Dims> to_numpy(std::vector<T> values, std::initializer_list<size_t> shape) {
    auto *owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void *p) noexcept {
        delete static_cast<std::vector<T> *>(p);
    });
    return Result<T, Dims>(owned->data(), shape, owner);
}

// An array to be written in full, which is not filled with zeros first.
template <class T, int Dims>
Result<T, Dims> unwritten(std::initializer_list<size_t> shape) {
    size_t size = 1;
    for (const size_t side : shape) size *= side;
    T *values = new T[size];
    nb::capsule owner(values, [](void *p) noexcept { delete[] static_cast<T *>(p); });
    return Result<T, Dims>(values, shape, owner);
}

template <class T>
std::vector<T> copied(const T *values, size_t size) {
    return std::vector<T>(values, values + size);
}

// Refuses numbers that are not 0 ... end - 1.
inline void check_numbers(const int32_t *numbers, size_t count, size_t end,
                          const char *complaint) {
    for (size_t k = 0; k < count; ++k)
        if (numbers[k] < 0 || static_cast<size_t>(numbers[k]) >= end)
            throw std::invalid_argument(complaint);
}

// Returns how many there are of something; refuses a negative number.
inline size_t count_of(int n) {
    if (n < 0) throw std::invalid_argument("there cannot be fewer than none");
    return static_cast<size_t>(n);
}

// Refuses what the kernels number in 32 bits and cannot.
inline void check_size(size_t size) {
    if (size >> 31) throw std::invalid_argument("more than 2^31 - 1 numbers");
}

inline constexpr const char *no_region = "a number names a region that does not exist";

namespace door {

// Binds the kernels that work on images at their full size.
void bind_images(nb::module_ &m);

// Binds the kernels that look at pixels and regions.
void bind_pixels(nb::module_ &m);

}  // namespace door

}  // namespace pfeseg
