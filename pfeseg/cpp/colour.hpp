// sRGB to CIELAB.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "dense_loops.hpp"

namespace pfeseg {

// Intensity of light that sRGB values in [0, 1] stand for, interpolated between so many of them
// that single precision cannot tell; those of 8 bits are among them.
class Linearisation {
  public:
    Linearisation() : light_(steps + 2) {
        for (int k = 0; k < steps + 2; ++k) {
            const double value = static_cast<double>(k) / steps;
            light_[k] = static_cast<float>(
                value > 0.04045 ? std::pow((value + 0.055) / 1.055, 2.4) : value / 12.92);
        }
    }

    float operator()(uint8_t value) const { return light_[value * (steps / 255)]; }

    template <class T>
    float operator()(T value) const {
        const T inside = value > T(0) ? std::min(value, T(1)) : T(0);  // what is no number, too
        const T place = inside * steps;
        const auto before = static_cast<int32_t>(place);
        const auto share = static_cast<float>(place - before);
        return light_[before] + share * (light_[before + 1] - light_[before]);
    }

  private:
    static constexpr int steps = 255 * 32;
    std::vector<float> light_;
};

// n pixels, (n, 3), to (n, 3) of L, a, b.
template <class T>
void to_lab(const T *rgb, int64_t n, const DenseLoops &loops, float *lab) {
    static const Linearisation light_of;
    constexpr int64_t block = 256;
    float light[3][block];
    for (int64_t begin = 0; begin < n; begin += block) {
        const int64_t size = std::min(block, n - begin);
        for (int64_t i = 0; i < size; ++i)
            for (int64_t c = 0; c < 3; ++c) light[c][i] = light_of(rgb[3 * (begin + i) + c]);
        loops.lab(light[0], light[1], light[2], size, lab + 3 * begin);
    }
}

}  // namespace pfeseg
