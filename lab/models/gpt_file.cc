#include "lab/models/gpt_file.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>

#include "bcos/safetensors.hpp"
#include "engine/error.hpp"
#include "lab/models/gpt.hpp"
#include "lab/models/gpt_names.hpp"

namespace bcos::lab::models {
namespace {

using safetensors::File;
using safetensors::TensorInfo;
using torch::Tensor;
using Shape = std::vector<std::uint64_t>;
/// What a file holds, under our names.
using Found = std::map<std::string, const TensorInfo*>;
/// What will be written into the model, after all has been read.
using Staged = std::vector<std::pair<Tensor, Tensor>>;

constexpr const char* kToken = "wte.weight";
constexpr const char* kHead = "lm_head.weight";

constexpr std::array<std::pair<std::string_view, torch::ScalarType>, 4> kTypes = {
    {{"F32", torch::kFloat},
     {"F64", torch::kDouble},
     {"F16", torch::kHalf},
     {"BF16", torch::kBFloat16}}};

const Gpt& gpt2_of(const Model& model, std::string_view function, bool biases) {
  const ModelOptions& options = model.options();
  const auto* gpt = dynamic_cast<const Gpt*>(&model);
  if (gpt == nullptr) {
    throw fail(function, "expected a model of kind gpt but received one of kind {}", options.kind);
  }
  if (options.positions != "learned") {
    throw fail(function,
               "expected a GPT with learned positions, as GPT-2 has them, but received positions = "
               "{}",
               options.positions);
  }
  if (biases && !options.bias) {
    throw fail(function,
               "expected a GPT with biases, as GPT-2 has them, but received bias = false");
  }
  return *gpt;
}

/// A parameter as files have it, as a view: without the rows that pad the vocabulary, and
/// transposed where they transpose.
Tensor as_in_files(const std::string& name, const Tensor& parameter, const ModelOptions& options) {
  const Tensor value = parameter.detach();
  if (name == kToken || name == kHead) return value.narrow(0, 0, options.vocab_size);
  return is_transposed(name) ? value.t() : value;
}

Shape shape_of(const Tensor& tensor) { return {tensor.sizes().begin(), tensor.sizes().end()}; }

std::span<std::byte> bytes_of(const Tensor& tensor) {
  return {static_cast<std::byte*>(tensor.data_ptr()), tensor.nbytes()};
}

Found tensors_of(const File& file) {
  Found found;
  for (const TensorInfo& tensor : file.tensors()) {
    const std::optional<std::string> name = from_hugging_face(tensor.name);
    if (!name) continue;
    if (!found.emplace(*name, &tensor).second) {
      throw fail(ErrorCode::mismatch, "load_gpt2",
                 "expected one tensor {} in '{}' but received it with and without 'transformer.'",
                 *name, file.path());
    }
  }
  return found;
}

Tensor read(const File& file, const TensorInfo& tensor, const Shape& shape) {
  if (tensor.shape != shape) {
    throw fail(ErrorCode::mismatch, "load_gpt2",
               "expected shape [{}] of {} in '{}' but received [{}]; give the model the layers, "
               "width, context and vocab_size of the file",
               fmt::join(shape, ", "), tensor.name, file.path(), fmt::join(tensor.shape, ", "));
  }
  for (const auto& [name, type] : kTypes) {
    if (name != tensor.dtype) continue;
    const Tensor value = torch::empty(std::vector<std::int64_t>(shape.begin(), shape.end()), type);
    file.read(tensor, bytes_of(value));
    return value;
  }
  throw fail(ErrorCode::mismatch, "load_gpt2",
             "expected {} in '{}' as F32, F64, F16 or BF16 but received {}", tensor.name,
             file.path(), tensor.dtype);
}

void check_names(const File& file, const Found& found,
                 const torch::OrderedDict<std::string, Tensor>& parameters) {
  for (const auto& item : parameters) {
    if (item.key() == kHead || found.contains(item.key())) continue;
    throw fail(
        ErrorCode::mismatch, "load_gpt2",
        "expected tensor {} in '{}' but received none of that name; the model has {} tensors, "
        "the file {}",
        item.key(), file.path(), parameters.size(), found.size());
  }
  for (const auto& [name, tensor] : found) {
    if (name == kHead || parameters.contains(name)) continue;
    throw fail(ErrorCode::mismatch, "load_gpt2",
               "expected the {} tensors of the model in '{}' but received {} as well",
               parameters.size(), file.path(), tensor->name);
  }
}

void check_tied_head(const File& file, const Found& found, const Tensor& token) {
  const auto head = found.find(kHead);
  if (head == found.end()) return;
  if (torch::equal(read(file, *head->second, shape_of(token)).to(token.dtype()), token)) return;
  throw fail(ErrorCode::mismatch, "load_gpt2",
             "expected {} equal to {} in '{}', because the model ties them, but received other "
             "numbers; set tied = false",
             kHead, kToken, file.path());
}

}  // namespace

void load_gpt2(Model& model, const std::string& path) {
  const Gpt& gpt = gpt2_of(model, "load_gpt2", true);
  const File file = File::open(path);
  const Found found = tensors_of(file);
  const auto parameters = gpt.named_parameters();
  check_names(file, found, parameters);

  Staged staged;
  for (const auto& item : parameters) {
    const Tensor place = as_in_files(item.key(), item.value(), gpt.options());
    const bool is_absent_head = item.key() == kHead && !found.contains(kHead);
    const TensorInfo& tensor = *found.at(is_absent_head ? kToken : item.key());
    staged.emplace_back(place, read(file, tensor, shape_of(place)));
    if (item.key() == kToken && gpt.options().tied) {
      check_tied_head(file, found, staged.back().second);
    }
  }
  const torch::NoGradGuard no_grad;
  for (const auto& [place, value] : staged) place.copy_(value);
}

namespace {

/// The biases of a model that has none: GPT-2 adds them, so they are 0.
std::vector<std::pair<std::string, Tensor>> zero_biases(const Gpt& gpt) {
  std::vector<std::pair<std::string, Tensor>> biases;
  if (gpt.options().bias) return biases;
  constexpr std::string_view kWeight = "weight";
  for (const auto& item : gpt.named_parameters()) {
    const std::string& name = item.key();
    if (name == kToken || name == kHead || name == "wpe.weight") continue;
    const std::string stem = name.substr(0, name.size() - kWeight.size());
    biases.emplace_back(stem + "bias", torch::zeros({item.value().size(0)}));
  }
  return biases;
}

}  // namespace

void save_gpt2(const Model& model, const std::string& path) {
  const Gpt& gpt = gpt2_of(model, "save_gpt2", false);
  std::vector<std::pair<std::string, Tensor>> kept;
  for (const auto& item : gpt.named_parameters()) {
    kept.emplace_back(item.key(), as_in_files(item.key(), item.value(), gpt.options()));
  }
  for (auto& bias : zero_biases(gpt)) kept.push_back(std::move(bias));
  std::vector<safetensors::TensorData> tensors;
  for (auto& [name, value] : kept) {
    value = value.cpu().contiguous();
    const auto* type =
        std::ranges::find(kTypes, value.scalar_type(), [](auto t) { return t.second; });
    if (type == kTypes.end()) {
      throw fail("save_gpt2", "expected float parameters but received {} in {}",
                 c10::toString(value.scalar_type()), name);
    }
    tensors.push_back(
        {to_hugging_face(name), std::string(type->first), shape_of(value), bytes_of(value)});
  }
  safetensors::write(path, tensors, {{"format", "pt"}});
}

std::string gpt2_config(const Model& model) {
  const ModelOptions& o = model.options();
  return fmt::format(
      "{{\"architectures\": [\"GPT2LMHeadModel\"], \"model_type\": \"gpt2\", \"n_layer\": {}, "
      "\"n_embd\": {}, \"n_head\": {}, \"n_positions\": {}, \"vocab_size\": {}, "
      "\"activation_function\": \"{}\", \"tie_word_embeddings\": {}}}",
      o.layers, o.width, o.heads, o.context, o.vocab_size,
      o.activation == "relu" ? "relu" : "gelu_new", o.tied);
}

}  // namespace bcos::lab::models
