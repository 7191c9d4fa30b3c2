// Matching of the boundary pixels of two maps, each with one near it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace pfeseg {

struct Offset {
    int32_t dy, dx;
};

// As many pairs as there can be, from as many near ones as a first greedy
// round finds: pairs are tried in the order of the offsets.
class BoundaryMatching {
  public:
    // `marks` and `truth` are (height, width), not zero at boundary pixels.
    BoundaryMatching(const uint8_t *marks, const uint8_t *truth, size_t height, size_t width,
                     std::vector<Offset> offsets)
        : height_(static_cast<int32_t>(height)),
          width_(static_cast<int32_t>(width)),
          offsets_(std::move(offsets)),
          truth_at_(height * width, kNone) {
        int32_t n_truth = 0;
        for (size_t at = 0; at < height * width; ++at) {
            if (marks[at]) marks_.push_back(static_cast<int32_t>(at));
            if (truth[at]) truth_at_[at] = n_truth++;
        }
        mate_.assign(marks_.size(), kNone);
        owner_.assign(n_truth, kNone);
    }

    void run() {
        match_nearest_first();
        while (augment_once()) {
        }
    }

    // Sets the matched pixels of `marks` in a map of zeros.
    void write(uint8_t *matched) const {
        for (size_t m = 0; m < marks_.size(); ++m)
            if (mate_[m] != kNone) matched[marks_[m]] = 1;
    }

  private:
    static constexpr int32_t kNone = -1;

    // The true pixel at an offset from a mark, if there is one.
    int32_t neighbour(int32_t mark, const Offset &offset) const {
        const int32_t y = marks_[mark] / width_ + offset.dy;
        const int32_t x = marks_[mark] % width_ + offset.dx;
        if (y < 0 || y >= height_ || x < 0 || x >= width_) return kNone;
        return truth_at_[static_cast<size_t>(y) * width_ + x];
    }

    // All marks try one offset before any tries the next: no two of them can
    // then want the same pixel.
    void match_nearest_first() {
        for (const Offset &offset : offsets_)
            for (int32_t m = 0; m < static_cast<int32_t>(marks_.size()); ++m) {
                if (mate_[m] != kNone) continue;
                const int32_t t = neighbour(m, offset);
                if (t != kNone && owner_[t] == kNone) join(m, t);
            }
    }

    // Looks for augmenting paths from every free mark. A true pixel from which
    // there was none need not be tried again before the next round.
    bool augment_once() {
        std::vector<uint8_t> seen(owner_.size(), 0);
        bool any = false;
        for (int32_t m = 0; m < static_cast<int32_t>(marks_.size()); ++m)
            if (mate_[m] == kNone) any = augment(m, seen) || any;
        return any;
    }

    // Depth-first, on a stack of our own as paths can be long: each entry is a
    // mark and the offset by which it reached on.
    bool augment(int32_t start, std::vector<uint8_t> &seen) {
        path_.assign(1, {start, 0});
        while (!path_.empty()) {
            Step &step = path_.back();
            if (step.next == offsets_.size()) {
                path_.pop_back();
                continue;
            }
            const int32_t t = neighbour(step.mark, offsets_[step.next++]);
            if (t == kNone || seen[t]) continue;
            seen[t] = 1;
            if (owner_[t] != kNone) {
                path_.push_back({owner_[t], 0});
                continue;
            }
            for (const Step &taken : path_)  // from the start on, each hands its pixel over
                join(taken.mark, neighbour(taken.mark, offsets_[taken.next - 1]));
            return true;
        }
        return false;
    }

    void join(int32_t mark, int32_t t) {
        mate_[mark] = t;
        owner_[t] = mark;
    }

    struct Step {
        int32_t mark;
        size_t next;
    };

    int32_t height_, width_;
    std::vector<Offset> offsets_;
    std::vector<int32_t> truth_at_, marks_;
    std::vector<int32_t> mate_, owner_;  // of each mark, and of each true pixel
    std::vector<Step> path_;
};

}  // namespace pfeseg
