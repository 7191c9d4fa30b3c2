// NumPy arrays as the kernels take and return them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
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

// Multiplies sides; refuses what no memory can hold, before the product would begin again at 0.
size_t size_of(std::initializer_list<size_t> sides);

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
    T *values = new T[size_of(shape)];
    nb::capsule owner(values, [](void *p) noexcept { delete[] static_cast<T *>(p); });
    return Result<T, Dims>(values, shape, owner);
}

template <class T>
std::vector<T> copied(const T *values, size_t size) {
    return std::vector<T>(values, values + size);
}

}  // namespace pfeseg
