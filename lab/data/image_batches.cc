#include <algorithm>

#include "engine/error.hpp"
#include "lab/data/batches.hpp"
#include "lab/data/random.hpp"

namespace bcos::lab {
namespace {

constexpr std::string_view kWhere = "batches";
constexpr std::uint64_t kMostValues = std::uint64_t{1} << 32;
constexpr std::uint64_t kDrawsAnImage = 16;
constexpr int kMostPadding = 64;

void check(const Images& images, std::uint64_t rows) {
  if (images.size() == 0)
    throw fail(ErrorCode::mismatch, kWhere, "expected images but received none");
  if (rows == 0 || rows > kMostValues / images.shape().bytes()) {
    throw fail(kWhere, "expected from 1 to {} images in a batch but received {}",
               kMostValues / images.shape().bytes(), rows);
  }
}

void start(ImageBatch& batch, std::uint64_t rows, const ImageShape& shape) {
  batch.rows = rows;
  batch.images.resize(rows * shape.bytes());
  batch.labels.resize(rows);
}

/// What one image is moved by.
struct Change {
  int down = 0;
  int right = 0;
  bool flip = false;
};

Change drawn(const Augment& augment, Random random) {
  Change change;
  if (augment.crop_padding > 0) {
    const auto places = 2 * static_cast<std::uint64_t>(augment.crop_padding) + 1;
    change.down = static_cast<int>(random.below(places)) - augment.crop_padding;
    change.right = static_cast<int>(random.below(places)) - augment.crop_padding;
  }
  if (augment.flip) change.flip = random.below(2) == 1;
  return change;
}

/// Black is 0 before the normalisation, as if the padding were a part of the picture.
void normalise(const std::uint8_t* from, const ImageShape& shape, const Change& change,
               const ChannelNumbers& mean, const ChannelNumbers& std, float* out) {
  for (int c = 0; c < shape.channels; ++c) {
    const auto channel = static_cast<std::size_t>(std::min(c, 2));
    float value_of[256];
    for (int value = 0; value < 256; ++value) {
      value_of[value] = (static_cast<float>(value) / 255.0F - mean[channel]) / std[channel];
    }
    for (int y = 0; y < shape.height; ++y) {
      const int source_y = y + change.down;
      for (int x = 0; x < shape.width; ++x) {
        const int mirrored = change.flip ? shape.width - 1 - x : x;
        const int source_x = mirrored + change.right;
        const bool inside =
            source_y >= 0 && source_y < shape.height && source_x >= 0 && source_x < shape.width;
        *out++ = value_of[inside ? from[source_y * shape.width + source_x] : 0];
      }
    }
    from += shape.height * shape.width;
  }
}

}  // namespace

ImageBatches::ImageBatches(const Images& images, std::uint64_t rows, std::uint64_t seed,
                           Augment augment, ChannelNumbers mean, ChannelNumbers std,
                           std::uint64_t parts)
    : images_(images),
      rows_(rows),
      seed_(seed),
      augment_(augment),
      mean_(mean),
      std_(std),
      parts_(parts) {
  check(images, rows);
  if (parts == 0) throw fail(kWhere, "expected at least one part a step but received none");
  if (augment.crop_padding < 0 || augment.crop_padding > kMostPadding) {
    throw fail(kWhere, "expected a crop padding from 0 to {} but received {}", kMostPadding,
               augment.crop_padding);
  }
}

std::uint64_t ImageBatches::image_at(std::uint64_t index) const {
  const std::uint64_t epoch = index / images_.size();
  const std::uint64_t key = Random(seed_, stream_of(Draw::epoch_order, epoch)).next();
  return permuted(index % images_.size(), images_.size(), key);
}

void ImageBatches::fill(std::uint64_t step, std::uint64_t part, ImageBatch& batch) const {
  if (part >= parts_) throw fail(kWhere, "expected a part below {} but received {}", parts_, part);
  const ImageShape& shape = images_.shape();
  start(batch, rows_, shape);
  std::vector<std::uint8_t> image(shape.bytes());
  const std::uint64_t stream = stream_of(Draw::augmentation, step, part);
  for (std::uint64_t row = 0; row < rows_; ++row) {
    const std::uint64_t i = image_at((step * parts_ + part) * rows_ + row);
    images_.read(i, image);
    batch.labels[row] = images_.label(i);
    const Change change = drawn(augment_, Random(seed_, stream, row * kDrawsAnImage));
    normalise(image.data(), shape, change, mean_, std_, batch.images.data() + row * image.size());
  }
}

ImageEvalBatches::ImageEvalBatches(const Images& images, std::uint64_t rows, ChannelNumbers mean,
                                   ChannelNumbers std, std::uint64_t batches)
    : images_(images), rows_(rows), mean_(mean), std_(std) {
  check(images, rows);
  const std::uint64_t all = (images.size() + rows - 1) / rows;
  batches_ = batches == 0 ? all : std::min(batches, all);
}

void ImageEvalBatches::fill(std::uint64_t i, ImageBatch& batch) const {
  if (i >= batches_) throw fail(kWhere, "expected a batch below {} but received {}", batches_, i);
  const ImageShape& shape = images_.shape();
  const std::uint64_t first = i * rows_;
  start(batch, std::min(rows_, images_.size() - first), shape);
  std::vector<std::uint8_t> image(shape.bytes());
  for (std::uint64_t row = 0; row < batch.rows; ++row) {
    images_.read(first + row, image);
    batch.labels[row] = images_.label(first + row);
    normalise(image.data(), shape, {}, mean_, std_, batch.images.data() + row * image.size());
  }
}

}  // namespace bcos::lab
