#include "lab/diagnosis/reference.hpp"

#include <filesystem>

#include "bcos/safetensors.hpp"
#include "engine/error.hpp"
#include "lab/run/checkpoint_manifest.hpp"
#include "lab/run/checkpoint_store.hpp"

namespace bcos::lab::diagnosis {
namespace {

constexpr std::string_view kWhere = "train";

bool has_any(std::string_view name, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  return false;
}

run::Checkpoint checkpoint_at(const std::string& path,
                              const std::function<void(const std::string&)>& notice) {
  if (std::filesystem::exists(path + "/" + run::kManifestName)) return run::read_checkpoint(path);
  std::vector<std::string> complaints;
  const auto latest = run::latest_checkpoint(path + "/checkpoints", complaints);
  if (latest) {
    for (const std::string& complaint : complaints) notice("diagnose_ref: " + complaint);
    return *latest;
  }
  throw fail(ErrorCode::io, kWhere,
             "expected diagnose_ref as a run with a checkpoint but '{}' has none{}", path,
             complaints.empty() ? "" : ": " + complaints.front());
}

}  // namespace

std::string tensor_group(std::string_view name, std::size_t rank) {
  if (rank < 2) return "vectors";
  if (has_any(name, {"wte.", "wpe.", "cls_token", "pos_embed", "patch_embed"})) {
    return "embeddings";
  }
  if (has_any(name, {".attn.", ".qkv.", ".proj."})) return "attention";
  if (has_any(name, {".mlp.", ".fc1.", ".fc2.", "layers."})) return "mlp";
  if (has_any(name, {"conv"})) return "convolutions";
  if (has_any(name, {"lm_head.", "head.", "linear."})) return "output";
  return "other";
}

Reference read_reference(const std::string& path, const run::Settings& own,
                         std::span<const DiagnosedTensor> tensors,
                         const std::function<void(const std::string&)>& notice) {
  const run::Checkpoint checkpoint = checkpoint_at(path, notice);
  Reference reference;
  reference.path = checkpoint.path;
  reference.step = checkpoint.step;
  reference.settings = run::settings_from_toml(
      {}, checkpoint.facts.value("settings", std::string()), checkpoint.path);
  reference.data = checkpoint.facts.value("data", nlohmann::ordered_json());
  if (const std::string other = run::other_model(own, reference.settings); !other.empty()) {
    throw fail(ErrorCode::mismatch, kWhere,
               "expected diagnose_ref as a run of the same model but '{}' has another {}",
               checkpoint.path, other);
  }
  const auto file = safetensors::File::open(checkpoint.file("model.safetensors"));
  for (const DiagnosedTensor& tensor : tensors) {
    const safetensors::TensorInfo* info = file.find(tensor.name);
    if (info == nullptr) {
      throw fail(ErrorCode::mismatch, kWhere,
                 "expected diagnose_ref as a run of the same model but '{}' has no '{}'",
                 file.path(), tensor.name);
    }
    if (info->dtype != "F32" || info->end - info->begin != tensor.x.size_bytes()) {
      throw fail(ErrorCode::mismatch, kWhere,
                 "expected diagnose_ref as a run of the same model but '{}' has '{}' as {} bytes "
                 "of {} where this run has {} of F32",
                 file.path(), tensor.name, info->end - info->begin, info->dtype,
                 tensor.x.size_bytes());
    }
    std::vector<float>& weights = reference.weights.emplace_back(tensor.x.size());
    file.read(*info, std::as_writable_bytes(std::span(weights)));
  }
  return reference;
}

}  // namespace bcos::lab::diagnosis
