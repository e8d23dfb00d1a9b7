#include <algorithm>
#include <filesystem>
#include <utility>

#include "engine/error.hpp"
#include "lab/data/image_formats.hpp"

namespace bcos::lab::data {
namespace {

constexpr std::string_view kWhere = "cifar";
constexpr ImageShape kShape = {3, 32, 32};
constexpr std::uint64_t kPixels = 3072;

/// How a record begins: label bytes, of which the last counts.
struct Layout {
  std::uint64_t label_bytes;
  int classes;
};
constexpr Layout kCifar10 = {1, 10};
constexpr Layout kCifar100 = {2, 100};

struct Records {
  std::string pixels;
  std::vector<std::uint8_t> labels;
};

void append_records(const std::string& path, const Layout& layout, Records& records,
                    std::vector<FileFact>& files) {
  const DataFile file(path);
  const std::uint64_t record = layout.label_bytes + kPixels;
  if (file.size() == 0 || file.size() % record != 0) {
    throw fail(ErrorCode::corrupt, kWhere,
               "expected records of {} bytes in '{}' but received {} bytes, no multiple", record,
               path, file.size());
  }
  const std::string bytes = file.text(kLargestWhole);
  files.push_back(fact_of(path, bytes));
  for (std::uint64_t at = 0; at < bytes.size(); at += record) {
    const auto label = static_cast<std::uint8_t>(bytes[at + layout.label_bytes - 1]);
    if (label >= layout.classes) {
      throw fail(ErrorCode::corrupt, kWhere,
                 "expected labels below {} but received {} in record {} of '{}'", layout.classes,
                 label, at / record, path);
    }
    records.labels.push_back(label);
    records.pixels.append(bytes, at + layout.label_bytes, kPixels);
  }
}

/// The lines of a file of names, if it is there and has as many as there are classes; else numbers.
std::vector<std::string> names_from(const std::string& path, int classes) {
  std::vector<std::string> names;
  if (path_exists(path)) {
    const std::string text = DataFile(path).text(std::uint64_t{1} << 20);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      std::string line = text.substr(at, end - at);
      if (line.ends_with('\r')) line.pop_back();
      if (!line.empty()) names.push_back(std::move(line));
      at = end + 1;
    }
  }
  if (names.size() == static_cast<std::size_t>(classes)) return names;
  names.clear();
  for (int i = 0; i < classes; ++i) names.push_back(std::to_string(i));
  return names;
}

ImageData open_records(const std::vector<std::string>& train, const std::string& val,
                       const Layout& layout, const std::string& names_path) {
  ImageData data;
  Records records;
  for (const std::string& path : train) append_records(path, layout, records, data.files);
  Records held_out;
  append_records(val, layout, held_out, data.files);
  const std::vector<std::string> names = names_from(names_path, layout.classes);
  data.train =
      images_in_memory(kShape, names, std::move(records.pixels), std::move(records.labels));
  data.val =
      images_in_memory(kShape, names, std::move(held_out.pixels), std::move(held_out.labels));
  data.described = layout.classes == 10 ? "CIFAR-10" : "CIFAR-100";
  return data;
}

/// data_batch_*.bin, in order of name. Not by a pattern: the folder's name may hold its signs.
std::vector<std::string> batches_in(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with("data_batch_") && name.ends_with(".bin")) {
      paths.push_back(entry->path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

bool is_cifar10_folder(const std::string& folder) { return !batches_in(folder).empty(); }

bool is_cifar100_folder(const std::string& folder) {
  return path_exists(folder + "/train.bin") && path_exists(folder + "/test.bin");
}

ImageData open_cifar10(const std::string& folder) {
  const std::vector<std::string> batches = batches_in(folder);
  if (batches.empty()) {
    throw fail(ErrorCode::io, kWhere, "expected data_batch_1.bin and so on in '{}'", folder);
  }
  return open_records(batches, folder + "/test_batch.bin", kCifar10, folder + "/batches.meta.txt");
}

ImageData open_cifar100(const std::string& folder) {
  return open_records({folder + "/train.bin"}, folder + "/test.bin", kCifar100,
                      folder + "/fine_label_names.txt");
}

}  // namespace bcos::lab::data
