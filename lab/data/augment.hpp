#pragma once

#include "lab/data/images.hpp"
#include "lab/data/random.hpp"

/// What is done to training images. Chance comes in as random numbers, so that a batch is a
/// function of those it is made with.
namespace bcos::lab::data {

/// All of it is off by default.
struct Augment {
  int crop_padding = 0;      ///< moved by up to so many pixels in each direction, black outside
  bool flip = false;         ///< left and right changed, every second time
  double smallest_crop = 1;  ///< below 1: from so much of the area to all of it, stretched to the
                             ///< whole, in place of being moved
  double erase = 0;          ///< how often a rectangle gets the mean colour
  double mixup = 0;   ///< (0, 1]: pairs of images faded into each other, by Beta(mixup, mixup)
  double cutmix = 0;  ///< (0, 1]: pairs that swap a rectangle; with mixup, each half the time
};

/// Throws Error that names the number out of its range.
void check(const Augment& augment);

/// Whole pixels, from the first to before the last.
struct Box {
  int top = 0;
  int left = 0;
  int bottom = 0;
  int right = 0;
  int area() const { return (bottom - top) * (right - left); }
};

/// What happens to one image.
struct Change {
  /// What is shown of it, in its pixels; may reach outside.
  double top = 0;
  double left = 0;
  double height = 0;
  double width = 0;
  bool flip = false;
  Box erased;
};

Change no_change(const ImageShape& shape);
/// Takes fewer than 16 numbers.
Change draw_change(const Augment& augment, const ImageShape& shape, Random random);

/// (pixel / 255 - mean) / std of the image after the change.
void render(const std::uint8_t* chw, const ImageShape& shape, const Change& change,
            const ChannelNumbers& mean, const ChannelNumbers& std, float* out);

/// How row i of a batch is mixed with row i from its end.
struct Mix {
  double share = 1;  ///< of its own image and label
  bool fades = false;
  Box swapped;  ///< if it does not fade
};

Mix draw_mix(const Augment& augment, const ImageShape& shape, Random random);
void mix_rows(const Mix& mix, const ImageShape& shape, std::uint64_t rows, float* images);

}  // namespace bcos::lab::data
