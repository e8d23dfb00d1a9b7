#include "engine/safetensors/header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>

#include "engine/safetensors/checksums.hpp"
#include "engine/safetensors/header_json.hpp"
#include "engine/safetensors/layout.hpp"

namespace bcos::safetensors {
namespace {

void check_sizes(const TensorInfo& tensor) {
  if (tensor.end < tensor.begin) {
    throw Malformed(fmt::format("expected data_offsets in order but received [{}, {}] of tensor {}",
                                tensor.begin, tensor.end, in_quotes(tensor.name)));
  }
  const std::optional<std::uint64_t> bytes = shape_bytes(tensor.shape, dtype_size(tensor.dtype));
  if (!bytes) {
    throw Malformed(fmt::format("expected a shape whose bytes fit 64 bits but received [{}] of {}",
                                fmt::join(tensor.shape, ", "), in_quotes(tensor.name)));
  }
  if (*bytes != tensor.end - tensor.begin) {
    throw Malformed(fmt::format("expected {} bytes for {} [{}] but received {} of tensor {}",
                                *bytes, tensor.dtype, fmt::join(tensor.shape, ", "),
                                tensor.end - tensor.begin, in_quotes(tensor.name)));
  }
}

// Data are the tensors one after another: no hole, no overlap, nothing behind the last.
void sort_and_check_offsets(std::vector<TensorInfo>& tensors, std::uint64_t data_bytes) {
  const auto earlier = [](const TensorInfo& a, const TensorInfo& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  };
  std::ranges::sort(tensors, earlier);
  std::uint64_t end = 0;
  for (const TensorInfo& tensor : tensors) {
    if (tensor.begin != end) {
      throw Malformed(
          fmt::format("expected the next tensor at byte {} of the data but received {} at {}", end,
                      in_quotes(tensor.name), tensor.begin));
    }
    end = tensor.end;
  }
  if (end != data_bytes) {
    throw Malformed(
        fmt::format("expected {} bytes of data but received {}: the file was cut or something else "
                    "was appended",
                    end, data_bytes));
  }
}

void index_names(Header& header) {
  header.by_name.resize(header.tensors.size());
  std::iota(header.by_name.begin(), header.by_name.end(), 0U);
  const auto name = [&](std::uint32_t i) -> const std::string& { return header.tensors[i].name; };
  std::ranges::sort(header.by_name, {}, name);
  const auto twice = std::ranges::adjacent_find(header.by_name, {}, name);
  if (twice != header.by_name.end()) {
    throw Malformed(
        fmt::format("expected one tensor {} but received it twice", in_quotes(name(*twice))));
  }
}

// `given` holds every metadata entry with a reserved key. One such mark asks for all of them, so
// that damage to a mark cannot pass a file off as one that never had any.
void take_checksums(Header& header, std::vector<std::pair<std::string, std::string>>& given) {
  std::ranges::sort(given);
  const std::size_t count = header.tensors.size();
  if (given.size() != count + 2) {
    throw Malformed(fmt::format("expected {} checksum entries in the metadata but received {}",
                                count + 2, given.size()));
  }
  // "crc32c" < "crc32c." < "crc32c:", and the rest is in the order of the names.
  if (given[0].first != kHeaderKey || given[1].first != kCountKey) {
    throw Malformed(fmt::format("expected metadata crc32c and crc32c.tensors but received {}, {}",
                                in_quotes(given[0].first), in_quotes(given[1].first)));
  }
  if (given[1].second != std::to_string(count)) {
    throw Malformed(fmt::format("expected crc32c.tensors to be {} but received {}", count,
                                in_quotes(given[1].second)));
  }
  header.checksums.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t index = header.by_name[i];
    const auto& [key, digits] = given[i + 2];
    const std::string& name = header.tensors[index].name;
    if (!key.starts_with(kTensorKeyPrefix) || key.substr(kTensorKeyPrefix.size()) != name) {
      throw Malformed(fmt::format("expected the checksum of tensor {} but received {}",
                                  in_quotes(name), in_quotes(key)));
    }
    if (!from_digits(digits, header.checksums[index])) {
      throw Malformed(fmt::format("expected 8 hexadecimal digits as {} but received {}",
                                  in_quotes(key), in_quotes(digits)));
    }
  }
  header.has_checksums = true;
}

void check_header_digits(std::string_view text) {
  const std::string expected = header_digits(text);
  const std::string_view received = text.substr(kOpening.size(), expected.size());
  if (received != expected) {
    throw Malformed(fmt::format("expected header checksum {} but received {}: the file is damaged",
                                expected, in_quotes(received)));
  }
}

}  // namespace

std::size_t Header::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(
      by_name, name, {}, [&](std::uint32_t i) { return std::string_view(tensors[i].name); });
  if (found == by_name.end() || tensors[*found].name != name) return tensors.size();
  return *found;
}

Header parse_header(std::string_view text, std::uint64_t data_bytes) {
  const bool opening = has_opening(text);
  if (opening) check_header_digits(text);
  RawHeader raw = parse_header_json(text);
  if (!raw.checksums.empty() && !opening) {
    throw Malformed(fmt::format("expected a header with {} to begin with {} but received {}",
                                in_quotes(raw.checksums.front().first), kOpening,
                                in_quotes(text.substr(0, kOpening.size()))));
  }
  Header header;
  header.tensors = std::move(raw.tensors);
  header.metadata = std::move(raw.metadata);
  for (const TensorInfo& tensor : header.tensors) check_sizes(tensor);
  sort_and_check_offsets(header.tensors, data_bytes);
  index_names(header);
  if (opening) take_checksums(header, raw.checksums);
  return header;
}

}  // namespace bcos::safetensors
