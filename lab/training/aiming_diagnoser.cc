#include <fmt/format.h>

#include <cmath>

#include "bcos/error.hpp"
#include "lab/cli/human.hpp"
#include "lab/diagnostics/aiming.hpp"
#include "lab/diagnostics/null_cosine.hpp"
#include "lab/training/diagnoser.hpp"
#include "lab/training/snapshots.hpp"

namespace bcos::lab {
namespace {

using diagnostics::Aim;
using nlohmann::ordered_json;

/// One tensor as it was at a step: before it, and what it was moved along.
struct Looked {
  std::span<const float> x, g, m, D;
};

class AimingDiagnoser : public Diagnoser {
 public:
  AimingDiagnoser(const DiagnosedModel& model, AimingOptions options)
      : model_(model), options_(std::move(options)), snapshots_(options_.directory) {
    for (const DiagnosedTensor& tensor : model_.tensors) {
      D_.emplace_back(tensor.x.size());
      const Method& method = tensor.method;
      lambda_.push_back(method.decay == Decay::decoupled ? method.lambda : 0);
      decays_ = decays_ || lambda_.back() > 0;
    }
  }

  std::string_view kind() const override { return "aiming"; }
  std::uint64_t state_bytes() const override { return sizeof(double) * lengths_.size(); }

  void begin_anew(std::uint64_t done) override {
    lengths_.clear();
    first_ = done;
    snapshots_.remove_all();
    say_room(done);
  }

  void save(std::vector<safetensors::TensorData>& tensors, ordered_json& facts) const override {
    if (!options_.own_end) return;
    tensors.push_back({"lengths", "F64", {lengths_.size()}, std::as_bytes(std::span(lengths_))});
    facts["aiming"] = {{"first", first_}, {"groups", model_.groups}};
  }

  bool load(const safetensors::File& file, const ordered_json& facts, std::uint64_t done) override {
    if (!options_.own_end) {
      begin_anew(done);
      return true;
    }
    if (!facts.contains("aiming") || facts["aiming"]["groups"] != model_.groups) return false;
    first_ = facts["aiming"]["first"].get<std::uint64_t>();
    if (first_ > done) return false;
    lengths_.resize((done - first_) * model_.groups.size());
    if (!read_tensor(file, "lengths", std::span(lengths_))) return false;
    snapshots_.remove_from(done);
    if (options_.reference) snapshots_.remove_all();
    say_room(done);
    return true;
  }

  void see(const SeenStep& step) override {
    if (options_.own_end) add_length(step);
    if (step.bad || !step.due) return;
    std::vector<Looked> looked;
    for (std::size_t i = 0; i < step.tensors.size(); ++i) {
      const TensorStep& one = step.tensors[i];
      const Method& method = model_.tensors[i].method;
      diagnostics::normalised<float>(one.d, one.v, method.eps_root, method.eps, D_[i]);
      looked.push_back(
          {one.before, one.g, model_.momentum ? one.d : std::span<const float>(), D_[i]});
    }
    if (options_.reference) {
      const auto& weights = options_.reference->weights;
      report(step.step, looked, [&](std::size_t i) { return std::span<const float>(weights[i]); });
    } else {
      keep(step.step, looked);
    }
  }

  void end() override {
    if (!options_.own_end) return;
    find_nulls();
    if (options_.reference) {
      // The cosines were told as they came; what they are worth is known only now.
      const std::uint64_t end = first_ + lengths_.size() / model_.groups.size();
      for (std::uint64_t step = first_; step < end; ++step) {
        if (step % options_.every == 0) report_nulls(step);
      }
      return;
    }
    for (const std::uint64_t step : snapshots_.steps()) report_snapshot(step);
    snapshots_.remove_all();
  }

 private:
  /// The steps' lengths are what the null cosines are made of.
  void add_length(const SeenStep& step) {
    const auto squares = model_.sums<double>([&](std::size_t i) {
      double sum = 0;
      const TensorStep& one = step.tensors[i];
      if (step.bad) return sum;
      for (std::size_t j = 0; j < one.before.size(); ++j) {
        const double moved = static_cast<double>(one.after[j]) - one.before[j];
        sum += moved * moved;
      }
      return sum;
    });
    for (const double square : squares) lengths_.push_back(std::sqrt(square));
  }

  void find_nulls() {
    const std::size_t groups = model_.groups.size();
    nulls_.clear();
    for (std::size_t k = 0; k < groups; ++k) {
      std::vector<double> lengths;
      for (std::size_t at = k; at < lengths_.size(); at += groups) lengths.push_back(lengths_[at]);
      nulls_.push_back(diagnostics::null_cosines(lengths, model_.beta));
    }
  }

  void add_nulls(DiagnosisEvent& event, std::size_t group) const {
    if (nulls_.empty()) return;
    const std::optional<double> null = nulls_[group].at(event.step - first_);
    std::optional<double> of_gradient;
    if (null) of_gradient = *null * diagnostics::gradient_part(model_.beta);
    event.values.emplace_back("null_g", of_gradient);
    event.values.emplace_back("null_step", null);
  }

  DiagnosisEvent event_of(std::uint64_t step, std::size_t group) const {
    return {.step = step, .kind = "aiming", .group = model_.groups[group], .values = {}};
  }

  void report_nulls(std::uint64_t step) const {
    for (std::size_t k = 0; k < model_.groups.size(); ++k) {
      DiagnosisEvent event = event_of(step, k);
      add_nulls(event, k);
      options_.tell(event);
    }
  }

  template <class Target>
  void report(std::uint64_t step, std::span<const Looked> looked, Target target) const {
    const auto aims = [&](std::span<const float> Looked::* w) {
      return model_.sums<Aim>(
          [&](std::size_t i) { return diagnostics::aim_of(looked[i].x, target(i), looked[i].*w); });
    };
    struct Decayed : Aim {
      double margin = 0;
      Decayed& operator+=(const Decayed& other) {
        Aim::operator+=(other);
        margin += other.margin;
        return *this;
      }
    };
    const auto decayed = model_.sums<Decayed>([&](std::size_t i) {
      Decayed one{diagnostics::aim_of(looked[i].x, target(i), looked[i].D, lambda_[i])};
      one.margin = diagnostics::aiming_margin(one, lambda_[i]);
      return one;
    });
    const std::vector<Aim> g = aims(&Looked::g);
    const std::vector<Aim> m = model_.momentum ? aims(&Looked::m) : std::vector<Aim>();
    const std::vector<Aim> D = aims(&Looked::D);
    for (std::size_t k = 0; k < model_.groups.size(); ++k) {
      DiagnosisEvent event = event_of(step, k);
      event.values.emplace_back("cos_g", g[k].cosine());
      if (model_.momentum) event.values.emplace_back("cos_m", m[k].cosine());
      event.values.emplace_back("cos_d", D[k].cosine());
      if (decays_) event.values.emplace_back("cos_step", decayed[k].cosine());
      event.values.emplace_back("margin", decayed[k].margin);
      event.values.emplace_back("distance", std::sqrt(decayed[k].e_squared));
      add_nulls(event, k);
      options_.tell(event);
    }
  }

  /// The vectors of a snapshot by the first letter of their names.
  struct Kept {
    std::string_view letter;
    std::span<const float> Looked::* of;
  };
  std::vector<Kept> kept() const {
    std::vector<Kept> list = {{"x/", &Looked::x}, {"g/", &Looked::g}, {"D/", &Looked::D}};
    if (model_.momentum) list.push_back({"m/", &Looked::m});
    return list;
  }

  void keep(std::uint64_t step, std::span<const Looked> looked) const {
    std::vector<Snapshots::Part> parts;
    for (const Kept& part : kept()) {
      for (std::size_t i = 0; i < looked.size(); ++i) {
        parts.push_back({std::string(part.letter) + model_.tensors[i].name, looked[i].*part.of});
      }
    }
    snapshots_.keep(step, parts);
  }

  void report_snapshot(std::uint64_t step) const {
    if (step < first_ || (step - first_) * model_.groups.size() >= lengths_.size()) return;
    std::vector<std::vector<float>> held;
    std::vector<Snapshots::Place> places;
    std::vector<Looked> looked(model_.tensors.size());
    for (const Kept& part : kept()) {
      for (std::size_t i = 0; i < looked.size(); ++i) {
        std::vector<float>& values = held.emplace_back(model_.tensors[i].x.size());
        places.push_back({std::string(part.letter) + model_.tensors[i].name, values});
        looked[i].*part.of = values;
      }
    }
    try {
      snapshots_.read(step, places);
    } catch (const Error& error) {
      options_.notice(fmt::format("diagnosis: step {} is left out: {}", step, error.what()));
      return;
    }
    report(step, looked, [&](std::size_t i) { return model_.tensors[i].x; });
  }

  void say_room(std::uint64_t done) const {
    if (options_.reference || done >= options_.steps) return;
    const std::uint64_t count = (options_.steps - done + options_.every - 1) / options_.every;
    const auto bytes = static_cast<double>(kept().size() * sizeof(float) * model_.elements);
    options_.notice(fmt::format("diagnosis: {} of {} each are kept in {} until the run ends",
                                count == 1 ? "a step" : fmt::format("{} steps", count),
                                human_bytes(bytes), options_.directory));
  }

  const DiagnosedModel& model_;
  AimingOptions options_;
  Snapshots snapshots_;
  std::vector<std::vector<float>> D_;
  std::vector<double> lambda_;  // of the decoupled decay of each tensor
  bool decays_ = false;
  std::uint64_t first_ = 0;      // the step that lengths_ begin with
  std::vector<double> lengths_;  // |x_{t+1} - x_t|, a number a group and step
  std::vector<std::vector<std::optional<double>>> nulls_;  // of each group, known in the end
};

}  // namespace

std::unique_ptr<Diagnoser> aiming_diagnoser(const DiagnosedModel& model, AimingOptions options) {
  return std::make_unique<AimingDiagnoser>(model, std::move(options));
}

}  // namespace bcos::lab
