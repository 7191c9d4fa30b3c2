// Memory for several arrays in one piece.
#pragma once

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <new>
#include <vector>

namespace pfeseg {

// Memory for several arrays, aligned for the widest vectors, zeroed unless all of it will be
// written: by the threads that use it, at best. Each array starts at another distance from a
// page's beginning: equal distances make the processor mistake a store to one array for a store
// to the next.
template <class T>
class Slab {
  public:
    explicit Slab(std::initializer_list<size_t> sizes, bool zeroed = true) {
        size_t bytes = 0;
        for (const size_t size : sizes) {
            bytes = (bytes + kPage - 1) / kPage * kPage + starts_.size() * kStagger;
            starts_.push_back(bytes);
            bytes += size * sizeof(T);
        }
        memory_.reset(static_cast<char *>(::operator new[](bytes, kAlignment)));
#ifdef __linux__
        madvise(memory_.get(), bytes, MADV_HUGEPAGE);  // fewer address translations
#endif
        if (zeroed) std::fill_n(memory_.get(), bytes, char(0));
    }
    T *operator[](size_t k) const {
        return reinterpret_cast<T *>(memory_.get() + starts_[k]);
    }

  private:
    static constexpr size_t kPage = 4096, kStagger = 13 * 64;
    static constexpr std::align_val_t kAlignment{1 << 21};  // of a huge page
    struct Free {
        void operator()(char *p) const { ::operator delete[](p, kAlignment); }
    };
    std::vector<size_t> starts_;
    std::unique_ptr<char[], Free> memory_;
};

}  // namespace pfeseg
