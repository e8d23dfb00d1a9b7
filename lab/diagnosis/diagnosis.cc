#include "lab/diagnosis/diagnosis.hpp"

#include <algorithm>
#include <filesystem>

#include "engine/suggestion.hpp"
#include "lab/cli/options.hpp"
#include "lab/cli/usage.hpp"

namespace bcos::lab::diagnosis {
namespace {

constexpr const char* kFacts = "diagnosis";

/// Whether a run of these settings goes the same way as one of those, from its first step on.
bool same_trajectory(const run::Settings& a, const run::Settings& b) {
  return std::ranges::all_of(run::fields(), [&](const run::Field& field) {
    const bool decides = field.role == run::Role::trains || field.role == run::Role::numerics;
    return !decides || run::text_of(a, field) == run::text_of(b, field);
  });
}

AimingOptions aiming_options(const DiagnosisOptions& options, const DiagnosedModel& model,
                             std::uint64_t every) {
  AimingOptions aiming;
  aiming.directory = options.directory + "/diagnosis";
  aiming.every = every;
  aiming.steps = options.steps;
  aiming.tell = options.tell;
  aiming.notice = options.notice;
  const std::string& wanted = options.settings.diagnose_ref;
  if (wanted.empty()) return aiming;
  aiming.reference = read_reference(wanted, options.settings, model.tensors, options.notice);
  const run::Settings& other = aiming.reference->settings;
  aiming.own_end = aiming.reference->step == options.steps &&
                   aiming.reference->data == options.data &&
                   same_trajectory(options.settings, other);
  if (!aiming.own_end && other.seed == options.settings.seed) {
    options.notice(fmt::format(
        "diagnosis: '{}' has this run's seed and so its first weights and its examples: cosines to "
        "it are positive by that alone; take a run with another --seed",
        wanted));
  }
  return aiming;
}

}  // namespace

DiagnosedModel::DiagnosedModel(std::vector<DiagnosedTensor> list)
    : tensors(std::move(list)), groups{"all"} {
  for (const DiagnosedTensor& tensor : tensors) {
    auto found = std::find(groups.begin() + 1, groups.end(), tensor.group);
    if (found == groups.end()) found = groups.insert(found, tensor.group);
    group_of.push_back(static_cast<std::size_t>(found - groups.begin()));
    elements += tensor.x.size();
    momentum = tensor.method.direction == Direction::momentum;
    beta = momentum ? tensor.method.beta : 0;
  }
}

/// What the optimizer writes of one tensor, and the weights before.
struct Diagnosis::Buffers {
  explicit Buffers(std::size_t size) : before(size), g(size), d(size), v(size) {}
  std::vector<float> before, g, d, v;
};

Diagnosis::Diagnosis(const DiagnosisOptions& options, std::vector<DiagnosedTensor> tensors)
    : options_(options),
      model_(std::move(tensors)),
      every_(run::diagnose_every(options.settings, options.steps)) {
  for (const std::string& kind : run::diagnoses_of(options.settings)) {
    diagnosers_.push_back(kind == "aiming"
                              ? aiming_diagnoser(model_, aiming_options(options_, model_, every_))
                              : signal_diagnoser(model_, options_.tell));
  }
  for (const DiagnosedTensor& tensor : model_.tensors) {
    if (tensor.method.blocks.layout != Layout::coordinate) {
      throw fail("train", "expected single coordinates as blocks to diagnose but received others");
    }
    buffers_.emplace_back(tensor.x.size());
  }
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    Buffers& b = buffers_[i];
    taps_.push_back({.g = b.g.data(), .d = b.d.data(), .v = b.v.data()});
    seen_.push_back({b.before, model_.tensors[i].x, b.g, b.d, b.v});
  }
}

Diagnosis::~Diagnosis() = default;

void Diagnosis::begin(std::uint64_t done, const std::string& path) {
  std::optional<safetensors::File> file;
  nlohmann::ordered_json facts = nlohmann::ordered_json::object();
  if (done > 0 && std::filesystem::exists(path)) {
    file = safetensors::File::open(path);
    const auto found = file->metadata().find(kFacts);
    if (found != file->metadata().end()) facts = nlohmann::ordered_json::parse(found->second);
  }
  for (const auto& diagnoser : diagnosers_) {
    if (file && diagnoser->load(*file, facts, done)) continue;
    diagnoser->begin_anew(done);
    if (done == 0) continue;
    options_.notice(
        fmt::format("diagnosis: {} begins at step {}, for the checkpoint was saved without it",
                    diagnoser->kind(), done));
  }
}

void Diagnosis::before_step() {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    Buffers& b = buffers_[i];
    std::ranges::copy(model_.tensors[i].x, b.before.begin());
    // A tensor without a gradient leaves the taps as they are.
    for (std::vector<float>* tap : {&b.g, &b.d, &b.v}) std::ranges::fill(*tap, 0.0F);
  }
}

void Diagnosis::after_step(std::uint64_t step, double alpha, bool bad) {
  const SeenStep seen{step, alpha, bad, step % every_ == 0, seen_};
  for (const auto& diagnoser : diagnosers_) diagnoser->see(seen);
}

void Diagnosis::save(const std::string& path) const {
  std::vector<safetensors::TensorData> tensors;
  nlohmann::ordered_json facts = nlohmann::ordered_json::object();
  for (const auto& diagnoser : diagnosers_) diagnoser->save(tensors, facts);
  safetensors::write(path, tensors, {{kFacts, facts.dump()}});
}

std::uint64_t Diagnosis::state_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& diagnoser : diagnosers_) bytes += diagnoser->state_bytes();
  return bytes;
}

void Diagnosis::end() {
  for (const auto& diagnoser : diagnosers_) diagnoser->end();
}

}  // namespace bcos::lab::diagnosis
