// Regions of an image, each tinted with a colour of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "brightness.hpp"

namespace pfeseg {

// Less than 0, and what is no number, is 0.
inline uint8_t to_byte(float value) {
    const float above = value > 0.0f ? value : 0.0f;
    return static_cast<uint8_t>(static_cast<int32_t>(above < 255.0f ? above : 255.0f));
}

// Draws rows of `strength` times the brightness of the image, 0 to 1, and the tint of the pixel's
// label, together 0 ... 255, as RGB; marked pixels are white. The image has one channel or three;
// `tints` has three values a label.
template <class T>
void draw_tinted(const T *image, Brightness<T> brightness, int64_t rows, int64_t width,
                 int64_t channels, double strength, const int32_t *labels, const float *tints,
                 const uint8_t *marks, uint8_t *picture) {
    const auto share = static_cast<float>(strength / brightness.span());
    std::vector<float> line(3 * width);
    for (int64_t y = 0; y < rows; ++y) {
        // The tints first, so that the sums are one loop over the row.
        for (int64_t x = 0; x < width; ++x)
            for (int64_t c = 0; c < 3; ++c)
                line[3 * x + c] = tints[3 * int64_t{labels[x]} + c] + 0.5f;
        if (channels == 3)
            for (int64_t i = 0; i < 3 * width; ++i)
                picture[i] = to_byte(line[i] + share * brightness.level(image[i]));
        else
            for (int64_t i = 0; i < 3 * width; ++i)
                picture[i] = to_byte(line[i] + share * brightness.level(image[i / 3]));
        for (int64_t x = 0; x < width; ++x)
            if (marks[x])
                for (int64_t c = 0; c < 3; ++c) picture[3 * x + c] = 255;
        image += width * channels;
        labels += width;
        marks += width;
        picture += 3 * width;
    }
}

}  // namespace pfeseg
