// The module that Python imports.
#include <nanobind/nanobind.h>

#include <cstddef>
#include <initializer_list>
#include <new>
#include <stdexcept>

#include "door.hpp"

namespace pfeseg {

void refuse(const char *complaint) { throw std::invalid_argument(complaint); }

size_t size_of(std::initializer_list<size_t> sides) {
    constexpr size_t most = size_t{1} << (8 * sizeof(size_t) - 5);
    size_t size = 1;
    for (const size_t side : sides) {
        if (side > most / (size ? size : 1)) throw std::bad_alloc();
        size *= side;
    }
    return size;
}

}  // namespace pfeseg

namespace door = pfeseg::door;

NB_MODULE(_kernels, m) {
    // What a session still holds when it ends is no concern of who uses it, in a notebook for
    // instance.
#ifndef PFESEG_SANITIZE
    nanobind::set_leak_warnings(false);
#endif
    door::bind_solver(m);
    door::bind_embeddings(m);
    door::bind_images(m);
    door::bind_pixels(m);
    door::bind_clusters(m);
    door::bind_regions(m);
}
