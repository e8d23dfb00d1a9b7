#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "engine/error.hpp"
#include "lab/data/decode_image.hpp"
#include "lab/data/image_formats.hpp"

namespace bcos::lab::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWhere = "image folder";
constexpr std::size_t kImagesADamagedOne = 100;
constexpr int kLargestSide = 2048;
constexpr std::uint64_t kLargestFile = std::uint64_t{1} << 28;

struct Entry {
  std::string name;  ///< class/file
  int label = 0;
};

class FolderImages : public Images {
 public:
  FolderImages(std::string folder, std::vector<std::string> names, std::vector<Entry> entries,
               int size)
      : Images({3, size, size}, std::move(names)),
        folder_(std::move(folder)),
        entries_(std::move(entries)) {}

  std::uint64_t size() const override { return entries_.size(); }
  int label(std::uint64_t i) const override { return entries_.at(i).label; }
  void read(std::uint64_t i, std::span<std::uint8_t> chw) const override {
    if (chw.size() != shape().bytes()) {
      throw fail(ErrorCode::internal, kWhere, "expected room for {} bytes", shape().bytes());
    }
    const DataFile file(folder_ + "/" + entries_.at(i).name);
    try {
      fit_square(decode_image(file.text(kLargestFile), file.path()), shape().width, chw.data());
    } catch (const Error& error) {
      if (error.code() != ErrorCode::corrupt) throw;
      std::ranges::fill(chw, std::uint8_t{0});
      complain(i, error.what());
    }
  }
  std::vector<std::string> take_complaints() const override {
    const std::scoped_lock lock(mutex_);
    return std::exchange(complaints_, {});
  }

 private:
  /// One damaged image of many must not end a run, at the same step however often it is begun;
  /// many are no accident.
  void complain(std::uint64_t i, const std::string& what) const {
    const std::scoped_lock lock(mutex_);
    if (!damaged_.insert(i).second) return;
    if (damaged_.size() > 1 + entries_.size() / kImagesADamagedOne) {
      throw fail(ErrorCode::corrupt, kWhere,
                 "expected at most one damaged image in {} but '{}' has more; the last: {}",
                 kImagesADamagedOne, folder_, what);
    }
    complaints_.push_back(fmt::format("{}: it is taken for a black one", what));
  }

  std::string folder_;
  std::vector<Entry> entries_;
  mutable std::mutex mutex_;
  mutable std::set<std::uint64_t> damaged_;
  mutable std::vector<std::string> complaints_;
};

bool has_image_name(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  return !name.starts_with('.') &&
         (name.ends_with(".jpg") || name.ends_with(".jpeg") || name.ends_with(".png"));
}

template <class Take>
void list(const std::string& folder, const Take& take) {
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (const fs::directory_iterator end; !error && entry != end; entry.increment(error)) {
    take(*entry);
  }
  if (error) {
    throw fail(ErrorCode::io, kWhere, "expected to list '{}' but received '{}'", folder,
               error.message());
  }
}

std::vector<std::string> class_folders(const std::string& folder) {
  std::vector<std::string> names;
  list(folder, [&](const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    std::error_code ignored;
    if (entry.is_directory(ignored) && !name.starts_with('.')) names.push_back(name);
  });
  std::sort(names.begin(), names.end());
  if (names.empty()) {
    throw fail(ErrorCode::mismatch, kWhere,
               "expected a folder for every class in '{}' but received none; sort the images into "
               "them first",
               folder);
  }
  return names;
}

/// Looks at the first bytes of the images, so that a stray file is found before a run has begun: of
/// all of them, or of an even choice where that would take minutes.
void check_starts(const std::string& folder, const std::vector<Entry>& entries) {
  constexpr std::size_t kMost = 100'000;
  const std::size_t stride = entries.size() / kMost + 1;
  for (std::size_t i = 0; i < entries.size(); i += stride) {
    const DataFile file(folder + "/" + entries[i].name);
    check_image_start(file.beginning(kImageStart), file.path());
  }
}

/// All images below a folder, and as its fact a checksum of their names and sizes: reading them all
/// would take hours for ImageNet.
std::unique_ptr<Images> open_part(const std::string& folder, const std::vector<std::string>& names,
                                  int size, std::vector<FileFact>& files) {
  std::vector<Entry> entries;
  std::string listing;
  std::uint64_t bytes = 0;
  for (const std::string& name : class_folders(folder)) {
    const auto known = std::lower_bound(names.begin(), names.end(), name);
    if (known == names.end() || *known != name) {
      throw fail(ErrorCode::mismatch, kWhere,
                 "expected the classes of the training images in '{}' but received '{}'", folder,
                 name);
    }
    std::map<std::string, std::uint64_t> images;
    list(folder + "/" + name, [&](const fs::directory_entry& entry) {
      const std::string file = entry.path().filename().string();
      std::error_code error;
      if (!has_image_name(file) || !entry.is_regular_file(error)) return;
      const std::uint64_t file_bytes = entry.file_size(error);
      if (!error) images.emplace(file, file_bytes);
    });
    if (images.empty()) {
      throw fail(ErrorCode::mismatch, kWhere,
                 "expected images (.jpg, .jpeg, .png) in '{}/{}' but received none", folder, name);
    }
    for (const auto& [file, file_bytes] : images) {
      entries.push_back({name + "/" + file, static_cast<int>(known - names.begin())});
      listing += fmt::format("{}\n{}\n", entries.back().name, file_bytes);
      bytes += file_bytes;
    }
  }
  check_starts(folder, entries);
  FileFact fact = fact_of(folder, listing);
  fact.bytes = bytes;
  files.push_back(std::move(fact));
  return std::make_unique<FolderImages>(folder, names, std::move(entries), size);
}

}  // namespace

ImageData open_image_folder(const std::string& root, int image_size) {
  if (image_size < 1 || image_size > kLargestSide) {
    throw fail(kWhere, "expected image_size from 1 to {} but received {}", kLargestSide,
               image_size);
  }
  for (const char* part : {"train", "val"}) {
    if (!is_folder(root + "/" + part)) {
      throw fail(ErrorCode::io, kWhere, "expected a folder '{}' in '{}' but received none", part,
                 root);
    }
  }
  ImageData data;
  const std::vector<std::string> names = class_folders(root + "/train");
  data.train = open_part(root + "/train", names, image_size, data.files);
  data.val = open_part(root + "/val", names, image_size, data.files);
  data.described = "image folder";
  data.mean = {0.485F, 0.456F, 0.406F};
  data.std = {0.229F, 0.224F, 0.225F};
  return data;
}

}  // namespace bcos::lab::data
