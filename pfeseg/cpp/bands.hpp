// Rows of an image, shared out among threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "workers.hpp"

namespace pfeseg {

// The bands into which rows are parted: one for each thread, and no more than there are rows.
class Bands {
  public:
    Bands(int64_t rows, int threads)
        : rows_(rows),
          count_(static_cast<int>(std::max<int64_t>(1, std::min<int64_t>(rows, threads)))) {}

    int count() const { return count_; }
    int64_t begin(int band) const { return rows_ * band / count_; }
    int64_t end(int band) const { return begin(band + 1); }

    // Calls task(band) for all of them side by side.
    void run(const std::function<void(int)> &task) const {
        if (count_ == 1)
            task(0);
        else
            Workers(count_, count_, task).wait();
    }

    // Calls visit(row) for all rows, likewise.
    template <class Visit>
    void for_each_row(Visit visit) const {
        run([&](int band) {
            for (int64_t y = begin(band); y < end(band); ++y) visit(y);
        });
    }

  private:
    int64_t rows_;
    int count_;
};

}  // namespace pfeseg
