#include <algorithm>

#include "engine/error.hpp"
#include "lab/data/augment.hpp"
#include "lab/data/batches.hpp"
#include "lab/data/random.hpp"

namespace bcos::lab::data {
namespace {

constexpr std::string_view kWhere = "batches";
constexpr std::uint64_t kMostValues = std::uint64_t{1} << 32;
constexpr std::uint64_t kDrawsAnImage = 16;

void check_rows(const Images& images, std::uint64_t rows) {
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
  batch.share = 1;
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
  check_rows(images, rows);
  check(augment);
  if (parts == 0) throw fail(kWhere, "expected at least one part a step but received none");
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
    const Change change = draw_change(augment_, shape, Random(seed_, stream, row * kDrawsAnImage));
    render(image.data(), shape, change, mean_, std_, batch.images.data() + row * image.size());
  }
  const Mix mix = draw_mix(augment_, shape, Random(seed_, stream_of(Draw::mixing, step, part)));
  mix_rows(mix, shape, rows_, batch.images.data());
  batch.share = mix.share;
}

ImageEvalBatches::ImageEvalBatches(const Images& images, std::uint64_t rows, ChannelNumbers mean,
                                   ChannelNumbers std, std::uint64_t batches)
    : images_(images), rows_(rows), mean_(mean), std_(std) {
  check_rows(images, rows);
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
    render(image.data(), shape, no_change(shape), mean_, std_,
           batch.images.data() + row * image.size());
  }
}

}  // namespace bcos::lab::data
