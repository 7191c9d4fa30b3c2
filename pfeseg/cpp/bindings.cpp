// The module that Python imports.
#include <nanobind/nanobind.h>

#include "door.hpp"

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
