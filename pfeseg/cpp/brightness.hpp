// How bright the values of an image are.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace pfeseg {

// Values of no and of full brightness; those beyond count as these. Where both are infinite,
// levels are the values themselves.
template <class T>
class Brightness {
  public:
    Brightness(double black, double white)
        : least_(within(black)),
          most_(within(white)),
          black_(static_cast<Wide>(std::isfinite(black) ? black : 0)),
          scale_(scale_of(white - black)),
          range_(white - black) {}

    T clipped(T value) const { return std::min(std::max(value, least_), most_); }

    // 0 to 1, and beyond where a value is: colours are clipped when they are looked up.
    double unit(T value) const { return (static_cast<Wide>(value) - black_) / range_; }

    // 0 to `span`, in single precision.
    float level(T value) const {
        if constexpr (is_exact)
            return static_cast<float>(clipped(value) - black_);
        else
            return static_cast<float>((clipped(value) - black_) * scale_);
    }
    double span() const { return range_ * scale_; }

  private:
    static constexpr bool is_exact = std::is_integral_v<T> && sizeof(T) <= 2;
    using Wide = std::conditional_t<is_exact, int32_t, double>;

    static T within(double value) {
        using Limits = std::numeric_limits<T>;
        if (value <= static_cast<double>(Limits::lowest())) return Limits::lowest();
        if (value >= static_cast<double>(Limits::max())) return Limits::max();
        return static_cast<T>(value);
    }

    // A power of two, which rounds nothing: squares of levels must not leave single precision,
    // whatever the unit of an image.
    static double scale_of(double range) {
        if (is_exact || !std::isfinite(range) || range == 0.0) return 1.0;
        return std::exp2(std::min(-std::ilogb(range), 1000));
    }

    T least_, most_;
    Wide black_;
    double scale_, range_;
};

}  // namespace pfeseg
