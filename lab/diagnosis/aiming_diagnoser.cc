#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>

#include "bcos/error.hpp"
#include "lab/cli/human.hpp"
#include "lab/diagnosis/aiming.hpp"
#include "lab/diagnosis/diagnoser.hpp"
#include "lab/diagnosis/null_cosine.hpp"
#include "lab/diagnosis/snapshots.hpp"

namespace bcos::lab::diagnosis {
namespace {

using diagnosis::Aim;
using nlohmann::ordered_json;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// One tensor as it was at a step: before it, and what it was moved along.
struct Looked {
  std::span<const float> x, g, m, D;
  std::span<const float> step;  ///< D + lambda x
};

struct Direction {
  std::string_view name;
  std::span<const float> Looked::* of;
};

/// A number for every direction and group, kNone where there is none.
using Table = std::vector<double>;

class AimingDiagnoser : public Diagnoser {
 public:
  AimingDiagnoser(const DiagnosedModel& model, AimingOptions options)
      : model_(model), options_(std::move(options)), snapshots_(options_.directory) {
    bool decays = false;
    for (const DiagnosedTensor& tensor : model_.tensors) {
      D_.emplace_back(tensor.x.size());
      step_.emplace_back(tensor.x.size());
      const Method& method = tensor.method;
      lambda_.push_back(method.decay == Decay::decoupled ? method.lambda : 0);
      decays = decays || lambda_.back() > 0;
    }
    kept_ = {{"x/", &Looked::x}, {"g/", &Looked::g}, {"D/", &Looked::D}};
    directions_ = {{"g", &Looked::g}, {"d", &Looked::D}};
    if (model_.momentum) {
      kept_.push_back({"m/", &Looked::m});
      directions_.insert(directions_.begin() + 1, {"m", &Looked::m});
    }
    if (decays) directions_.push_back({"step", &Looked::step});
  }

  std::string_view kind() const override { return "aiming"; }
  std::uint64_t state_bytes() const override { return sizeof(double) * lengths_.size(); }

  void begin_anew(std::uint64_t done) override {
    lengths_.clear();
    angles_.clear();
    first_ = done;
    drop_snapshots();
    say_room(done);
  }

  void save(std::vector<safetensors::TensorData>& tensors, ordered_json& facts) const override {
    if (!options_.own_end) return;
    tensors.push_back({"lengths", "F64", {lengths_.size()}, std::as_bytes(std::span(lengths_))});
    ordered_json angles = ordered_json::array();
    for (const auto& [step, table] : angles_) angles.push_back({step, table});
    facts["aiming"] = {{"first", first_}, {"groups", model_.groups}, {"angles", angles}};
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
    angles_.clear();
    for (const ordered_json& one : facts["aiming"]["angles"]) {
      Table& table = angles_[one.at(0).get<std::uint64_t>()];
      for (const ordered_json& number : one.at(1)) {
        table.push_back(number.is_null() ? kNone : number.get<double>());
      }
    }
    if (options_.reference) {
      drop_snapshots();
    } else {
      snapshots_.remove_from(done);
    }
    say_room(done);
    return true;
  }

  void see(const SeenStep& step) override {
    if (options_.own_end) add_length(step);
    if (step.bad || !step.due) return;
    std::vector<Looked> looked(step.tensors.size());
    for (std::size_t i = 0; i < looked.size(); ++i) {
      const TensorStep& one = step.tensors[i];
      const Method& method = model_.tensors[i].method;
      diagnosis::normalised<float>(one.d, one.v, method.eps_root, method.eps, D_[i]);
      looked[i] = {.x = one.before, .g = one.g, .m = one.d, .D = D_[i], .step = {}};
    }
    if (!options_.reference) return keep(step.step, looked);
    const auto& weights = options_.reference->weights;
    add_steps(looked);
    report(step.step, looked, [&](std::size_t i) { return std::span<const float>(weights[i]); });
    if (options_.own_end) angles_[step.step] = angles_of(looked);
  }

  void end() override {
    if (!options_.own_end) return;
    find_nulls();
    if (!options_.reference) {
      for (const std::uint64_t step : snapshots_.steps()) report_snapshot(step);
      return snapshots_.remove_all();
    }
    // The cosines were told as they came; what they are worth is known only now.
    for (const auto& [step, angles] : angles_) {
      for (std::size_t k = 0; k < model_.groups.size(); ++k) {
        run::DiagnosisEvent event = event_of(step, k);
        add_nulls(event, k, angles);
        options_.tell(event);
      }
    }
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
      nulls_.push_back(diagnosis::null_cosines(lengths, model_.beta));
    }
  }

  /// Those of the step itself times the angle between: noise carries no more of a direction along.
  void add_nulls(run::DiagnosisEvent& event, std::size_t group, const Table& angles) const {
    const double null = nulls_[group].at(event.step - first_).value_or(kNone);
    for (std::size_t w = 0; w < directions_.size(); ++w) {
      const double value = null * angles.at(w * model_.groups.size() + group);
      event.values.emplace_back(fmt::format("null_{}", directions_[w].name),
                                std::isfinite(value) ? std::optional(value) : std::nullopt);
    }
  }

  void add_steps(std::span<Looked> looked) {
    for (std::size_t i = 0; i < looked.size(); ++i) {
      for (std::size_t j = 0; j < step_[i].size(); ++j) {
        step_[i][j] = static_cast<float>(looked[i].D[j] + lambda_[i] * looked[i].x[j]);
      }
      looked[i].step = step_[i];
    }
  }

  /// The cosines of the directions with the step.
  Table angles_of(std::span<const Looked> looked) const {
    Table table;
    for (const Direction& w : directions_) {
      const auto aims = model_.sums<Aim>(
          [&](std::size_t i) { return diagnosis::aim_of(looked[i].*w.of, looked[i].step); });
      for (const Aim& aim : aims) table.push_back(aim.cosine().value_or(kNone));
    }
    return table;
  }

  run::DiagnosisEvent event_of(std::uint64_t step, std::size_t group) const {
    return {.step = step, .kind = "aiming", .group = model_.groups[group], .values = {}};
  }

  template <class Target>
  void report(std::uint64_t step, std::span<const Looked> looked, Target target) const {
    std::vector<std::vector<Aim>> aims;
    aims.reserve(directions_.size());
    for (const Direction& w : directions_) {
      aims.push_back(model_.sums<Aim>([&](std::size_t i) {
        return diagnosis::aim_of(looked[i].x, target(i), looked[i].*w.of);
      }));
    }
    const auto margins = model_.sums<double>([&](std::size_t i) {
      const Aim aim = diagnosis::aim_of(looked[i].x, target(i), looked[i].D, lambda_[i]);
      return diagnosis::aiming_margin(aim, lambda_[i]);
    });
    const Table angles = nulls_.empty() ? Table() : angles_of(looked);
    for (std::size_t k = 0; k < model_.groups.size(); ++k) {
      run::DiagnosisEvent event = event_of(step, k);
      for (std::size_t w = 0; w < directions_.size(); ++w) {
        event.values.emplace_back(fmt::format("cos_{}", directions_[w].name), aims[w][k].cosine());
      }
      event.values.emplace_back("margin", margins[k]);
      event.values.emplace_back("distance", std::sqrt(aims[0][k].e_squared));
      if (!nulls_.empty()) add_nulls(event, k, angles);
      options_.tell(event);
    }
  }

  void keep(std::uint64_t step, std::span<const Looked> looked) const {
    std::vector<Snapshots::Part> parts;
    for (const Direction& part : kept_) {
      for (std::size_t i = 0; i < looked.size(); ++i) {
        parts.push_back({std::string(part.name) + model_.tensors[i].name, looked[i].*part.of});
      }
    }
    snapshots_.keep(step, parts);
  }

  void report_snapshot(std::uint64_t step) {
    if (step < first_ || (step - first_) * model_.groups.size() >= lengths_.size()) return;
    std::vector<std::vector<float>> held;
    std::vector<Snapshots::Place> places;
    std::vector<Looked> looked(model_.tensors.size());
    for (const Direction& part : kept_) {
      for (std::size_t i = 0; i < looked.size(); ++i) {
        std::vector<float>& values = held.emplace_back(model_.tensors[i].x.size());
        places.push_back({std::string(part.name) + model_.tensors[i].name, values});
        looked[i].*part.of = values;
      }
    }
    try {
      snapshots_.read(step, places);
    } catch (const Error& error) {
      options_.notice(fmt::format("diagnosis: step {} is left out: {}", step, error.what()));
      return;
    }
    add_steps(looked);
    report(step, looked, [&](std::size_t i) { return model_.tensors[i].x; });
  }

  /// Of a run that began otherwise.
  void drop_snapshots() const {
    const std::size_t count = snapshots_.steps().size();
    if (count > 0) options_.notice(fmt::format("diagnosis: {} kept steps are dropped", count));
    snapshots_.remove_all();
  }

  void say_room(std::uint64_t done) const {
    if (options_.reference || done >= options_.steps) return;
    const std::uint64_t count = (options_.steps - done + options_.every - 1) / options_.every;
    const auto bytes = static_cast<double>(kept_.size() * sizeof(float) * model_.elements);
    options_.notice(fmt::format("diagnosis: {} of {} each are kept in {} until the run ends",
                                count == 1 ? "a step" : fmt::format("{} steps", count),
                                cli::human_bytes(bytes), options_.directory));
  }

  const DiagnosedModel& model_;
  AimingOptions options_;
  Snapshots snapshots_;
  std::vector<double> lambda_;         // of the decoupled decay of each tensor
  std::vector<Direction> directions_;  // whose cosines are told
  std::vector<Direction> kept_;        // the parts of a snapshot, by the beginning of their names
  std::vector<std::vector<float>> D_;  // room for one step
  std::vector<std::vector<float>> step_;   // the same
  std::uint64_t first_ = 0;                // the step that lengths_ begin with
  std::vector<double> lengths_;            // |x_{t+1} - x_t|, a number a group and step
  std::map<std::uint64_t, Table> angles_;  // where cosines are told before the end is known
  std::vector<std::vector<std::optional<double>>> nulls_;  // of each group, known in the end
};

}  // namespace

std::unique_ptr<Diagnoser> aiming_diagnoser(const DiagnosedModel& model, AimingOptions options) {
  return std::make_unique<AimingDiagnoser>(model, std::move(options));
}

}  // namespace bcos::lab::diagnosis
