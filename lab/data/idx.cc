#include <algorithm>
#include <utility>

#include "engine/error.hpp"
#include "lab/data/gzip.hpp"
#include "lab/data/image_formats.hpp"

namespace bcos::lab::data {
namespace {

constexpr std::string_view kWhere = "idx";
constexpr std::size_t kLargestRank = 4;
constexpr std::uint64_t kLargestSide = 4096;

std::uint64_t big_endian(std::string_view bytes, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

/// The sizes that the header declares; `beginning` is as much of the file as a header can be.
std::vector<std::uint64_t> declared_sizes(std::string_view beginning, const std::string& path) {
  const bool marked = beginning.size() >= 4 && beginning[0] == 0 && beginning[1] == 0;
  const std::size_t rank = marked ? static_cast<unsigned char>(beginning[3]) : 0;
  if (!marked || beginning[2] != 0x08 || rank < 1 || rank > kLargestRank) {
    throw fail(ErrorCode::corrupt, kWhere,
               "expected an IDX file of unsigned bytes (00 00 08 and a rank from 1 to {}) in '{}'",
               kLargestRank, path);
  }
  if (beginning.size() < 4 + 4 * rank) {
    throw fail(ErrorCode::corrupt, kWhere, "expected a header of {} bytes in '{}' but received {}",
               4 + 4 * rank, path, beginning.size());
  }
  std::vector<std::uint64_t> sizes;
  sizes.reserve(rank);
  for (std::size_t i = 0; i < rank; ++i) sizes.push_back(big_endian(beginning, 4 + 4 * i));
  return sizes;
}

/// The product, checked step by step: rank 4 of 2^32 each would not fit into 64 bits.
std::uint64_t product(const std::vector<std::uint64_t>& sizes, const std::string& path) {
  std::uint64_t all = 1;
  for (const std::uint64_t size : sizes) {
    if (size != 0 && all > kLargestWhole / size) {
      throw fail(ErrorCode::corrupt, kWhere, "expected at most {} values in '{}'", kLargestWhole,
                 path);
    }
    all *= size;
  }
  return all;
}

/// The file under its plain name, or packed.
std::string present(const std::string& folder, const std::string& name) {
  const std::string plain = folder + "/" + name;
  return path_exists(plain) ? plain : plain + ".gz";
}

struct Labelled {
  IdxArray images;
  IdxArray labels;
  int largest = 0;
};

Labelled read_labelled(const std::string& folder, const std::string& prefix,
                       std::vector<FileFact>& files) {
  const std::string image_path = present(folder, prefix + "-images-idx3-ubyte");
  const std::string label_path = present(folder, prefix + "-labels-idx1-ubyte");
  Labelled set{read_idx(image_path, &files), read_idx(label_path, &files)};
  const auto& sizes = set.images.sizes;
  if (sizes.size() != 3 || sizes[0] == 0 || sizes[1] == 0 || sizes[2] == 0 ||
      sizes[1] > kLargestSide || sizes[2] > kLargestSide) {
    throw fail(ErrorCode::corrupt, kWhere,
               "expected count, height and width from 1 to {} in '{}' but received others",
               kLargestSide, image_path);
  }
  if (set.labels.sizes.size() != 1 || set.labels.sizes[0] != sizes[0]) {
    throw fail(ErrorCode::mismatch, kWhere,
               "expected {} labels in '{}', as many as images, but received {}", sizes[0],
               label_path, set.labels.sizes[0]);
  }
  for (const char label : set.labels.values) {
    set.largest = std::max(set.largest, int{static_cast<unsigned char>(label)});
  }
  return set;
}

std::vector<std::string> names_of(const std::string& folder, int classes) {
  if (folder.find("fashion") != std::string::npos && classes == 10) {
    return {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
            "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
  }
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(classes));
  for (int i = 0; i < classes; ++i) names.push_back(std::to_string(i));
  return names;
}

std::unique_ptr<Images> in_memory(Labelled set, const std::vector<std::string>& names) {
  const ImageShape shape{1, static_cast<int>(set.images.sizes[1]),
                         static_cast<int>(set.images.sizes[2])};
  return images_in_memory(
      shape, names, std::move(set.images.values),
      std::vector<std::uint8_t>(set.labels.values.begin(), set.labels.values.end()));
}

}  // namespace

IdxArray read_idx(const std::string& path, std::vector<FileFact>* files) {
  const DataFile file(path);
  std::string bytes = file.text(kLargestWhole);
  if (files != nullptr) files->push_back(fact_of(path, bytes));
  constexpr std::size_t kLongestHeader = 4 + 4 * kLargestRank;
  const bool packed = is_gzip(bytes);
  IdxArray array;
  array.sizes = declared_sizes(
      packed ? unpacked(bytes, kLongestHeader, path) : bytes.substr(0, kLongestHeader), path);
  const std::uint64_t header = 4 + 4 * array.sizes.size();
  const std::uint64_t expected = header + product(array.sizes, path);
  if (packed) {
    if (expected > bytes.size() * kGzipRatio) {
      throw fail(ErrorCode::corrupt, kWhere,
                 "expected {} bytes in '{}', as its header says, but its {} packed bytes cannot "
                 "hold as many",
                 expected, path, bytes.size());
    }
    bytes = unpacked(bytes, expected + 1, path);
  }
  if (bytes.size() != expected) {
    throw fail(ErrorCode::corrupt, kWhere,
               "expected {} bytes in '{}', as its header says, but received {}{}", expected, path,
               packed && bytes.size() > expected ? "at least " : "", bytes.size());
  }
  bytes.erase(0, header);
  array.values = std::move(bytes);
  return array;
}

bool is_idx_folder(const std::string& folder) {
  return path_exists(present(folder, "train-images-idx3-ubyte"));
}

ImageData open_idx(const std::string& folder) {
  ImageData data;
  Labelled train = read_labelled(folder, "train", data.files);
  Labelled val = read_labelled(folder, "t10k", data.files);
  if (val.images.sizes[1] != train.images.sizes[1] ||
      val.images.sizes[2] != train.images.sizes[2]) {
    throw fail(ErrorCode::mismatch, kWhere,
               "expected test images of {} x {} in '{}', as in training, but received {} x {}",
               train.images.sizes[1], train.images.sizes[2], folder, val.images.sizes[1],
               val.images.sizes[2]);
  }
  if (val.largest > train.largest) {
    throw fail(ErrorCode::mismatch, kWhere,
               "expected test labels up to {} in '{}', as in training, but received {}",
               train.largest, folder, val.largest);
  }
  const std::vector<std::string> names = names_of(folder, train.largest + 1);
  data.train = in_memory(std::move(train), names);
  data.val = in_memory(std::move(val), names);
  data.described = "IDX";
  return data;
}

}  // namespace bcos::lab::data
