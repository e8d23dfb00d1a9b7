#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "bcos/safetensors.hpp"
#include "engine/error.hpp"
#include "engine/safetensors/atomic_file.hpp"
#include "engine/safetensors/checksums.hpp"
#include "engine/safetensors/layout.hpp"

namespace bcos::safetensors {
namespace {

constexpr std::string_view kFunction = "safetensors::write";

using Order = std::vector<const TensorData*>;

void check_tensor(const TensorData& tensor) {
  if (const std::string_view problem = name_problem(tensor.name); !problem.empty()) {
    throw fail(kFunction, "expected a tensor name but received {}: {}", problem,
               in_quotes(tensor.name));
  }
  const std::uint64_t element_bytes = dtype_size(tensor.dtype);
  if (element_bytes == 0) {
    throw fail(kFunction, "expected a known dtype of tensor {} but received {}",
               in_quotes(tensor.name), in_quotes(tensor.dtype));
  }
  if (tensor.shape.size() > kMaxRank ||
      std::ranges::any_of(tensor.shape, [](std::uint64_t size) { return size > kMaxNumber; })) {
    throw fail(kFunction, "expected up to 64 sizes below 2^63 but received {} sizes of tensor {}",
               tensor.shape.size(), in_quotes(tensor.name));
  }
  const std::optional<std::uint64_t> bytes = shape_bytes(tensor.shape, element_bytes);
  if (!bytes || *bytes != tensor.data.size()) {
    throw fail(kFunction, "expected {} bytes for {} [{}] but received {} of tensor {}",
               bytes ? std::to_string(*bytes) : "too many", tensor.dtype,
               fmt::join(tensor.shape, ", "), tensor.data.size(), in_quotes(tensor.name));
  }
}

// Wide elements first, so that each tensor lies at a multiple of its element size; else as given.
Order checked_order(std::span<const TensorData> tensors) {
  Order order;
  order.reserve(tensors.size());
  for (const TensorData& tensor : tensors) {
    check_tensor(tensor);
    order.push_back(&tensor);
  }
  std::ranges::sort(order, {},
                    [](const TensorData* tensor) -> const std::string& { return tensor->name; });
  const auto twice = std::ranges::adjacent_find(
      order, {}, [](const TensorData* tensor) -> const std::string& { return tensor->name; });
  if (twice != order.end()) {
    throw fail(kFunction, "expected one tensor {} but received it twice",
               in_quotes((*twice)->name));
  }
  std::ranges::sort(order, [](const TensorData* a, const TensorData* b) {
    const std::uint64_t a_size = dtype_size(a->dtype);
    const std::uint64_t b_size = dtype_size(b->dtype);
    return a_size != b_size ? a_size > b_size : std::less<>()(a, b);
  });
  return order;
}

std::string json_string(std::string_view text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {
    throw fail(kFunction, "expected names and metadata in UTF-8 but received {}", in_quotes(text));
  }
}

std::string metadata_json(const Order& order, const std::map<std::string, std::string>& metadata) {
  std::string text =
      fmt::format(R"({}{}","{}":"{}")", kOpening, kBlankDigits, kCountKey, order.size());
  for (const TensorData* tensor : order) {
    text += fmt::format(R"(,{}:"{}")", json_string(std::string(kTensorKeyPrefix) + tensor->name),
                        to_digits(crc32c(tensor->data)));
  }
  for (const auto& [key, value] : metadata) {
    if (key.starts_with(kReservedKeyPrefix)) {
      throw fail(kFunction, "expected no metadata key that begins with crc32c but received {}",
                 in_quotes(key));
    }
    text += fmt::format(",{}:{}", json_string(key), json_string(value));
  }
  return text + "}";
}

// The header, its digits filled in; `data_bytes` becomes the size of what follows.
std::string header_json(const Order& order, const std::map<std::string, std::string>& metadata,
                        std::uint64_t& data_bytes) {
  std::string text = metadata_json(order, metadata);
  data_bytes = 0;
  for (const TensorData* tensor : order) {
    std::uint64_t end;
    if (__builtin_add_overflow(data_bytes, tensor->data.size(), &end) || end > kMaxNumber) {
      throw fail(kFunction, "expected less than 2^63 bytes of data but received more");
    }
    text += fmt::format(R"(,{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                        json_string(tensor->name), tensor->dtype, fmt::join(tensor->shape, ","),
                        data_bytes, end);
    data_bytes = end;
  }
  text += "}";
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > kMaxHeaderBytes) {
    throw fail(kFunction, "expected a header of at most {} bytes but received {}", kMaxHeaderBytes,
               text.size());
  }
  return text.replace(kOpening.size(), kBlankDigits.size(), header_digits(text));
}

}  // namespace

void write(const std::string& path, std::span<const TensorData> tensors,
           const std::map<std::string, std::string>& metadata) {
  const Order order = checked_order(tensors);
  std::uint64_t data_bytes = 0;
  const std::string header = header_json(order, metadata, data_bytes);
  const std::string length = length_bytes(header.size());

  AtomicFile file(kFunction, path, length.size() + header.size() + data_bytes);
  file.append(std::as_bytes(std::span(length)));
  file.append(std::as_bytes(std::span(header)));
  for (const TensorData* tensor : order) file.append(tensor->data);
  file.commit();
}

}  // namespace bcos::safetensors
