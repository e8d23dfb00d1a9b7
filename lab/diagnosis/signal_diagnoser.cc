#include "lab/diagnosis/amplification.hpp"
#include "lab/diagnosis/diagnoser.hpp"
#include "lab/diagnosis/signal.hpp"

namespace bcos::lab::diagnosis {
namespace {

using diagnosis::Amplification;
using diagnosis::SignalSums;
using nlohmann::ordered_json;

/// The memory of the averages where the method has none of its own.
constexpr double kUsualBeta = 0.9;

/// Of g and not of m: the gradients of two steps have nothing in common but what is signal, while
/// momenta share their samples, which kappa does not know.
class SignalDiagnoser : public Diagnoser {
 public:
  SignalDiagnoser(const DiagnosedModel& model, TellDiagnosis tell)
      : model_(model), tell_(std::move(tell)) {
    begin_anew(0);
  }

  std::string_view kind() const override { return "signal"; }

  void begin_anew(std::uint64_t /*done*/) override {
    averages_.clear();
    const double beta = model_.beta > 0 ? model_.beta : kUsualBeta;
    for (const DiagnosedTensor& tensor : model_.tensors) {
      averages_.emplace_back(tensor.x.size(), beta);
    }
    window_.assign(model_.groups.size(), {});
  }

  void see(const SeenStep& step) override {
    if (step.bad) return;
    for (std::size_t i = 0; i < averages_.size(); ++i) averages_[i].add(step.tensors[i].g);
    const auto now = model_.sums<Amplification>([&](std::size_t i) {
      return diagnosis::amplification(step.tensors[i].d, step.tensors[i].v);
    });
    for (std::size_t k = 0; k < now.size(); ++k) window_[k] += now[k];
    if (step.due) report(step.step);
  }

  void save(std::vector<safetensors::TensorData>& tensors, ordered_json& facts) const override {
    for (std::size_t i = 0; i < averages_.size(); ++i) {
      const std::string& name = model_.tensors[i].name;
      for (const auto& [kind, values] :
           {std::pair("u/", averages_[i].u()), std::pair("v/", averages_[i].v())}) {
        tensors.push_back({kind + name, "F32", {values.size()}, std::as_bytes(values)});
      }
    }
    ordered_json window = ordered_json::array();
    for (const Amplification& one : window_) window.push_back({one.largest, one.sum, one.blocks});
    facts["signal"] = {{"count", averages_.empty() ? 0 : averages_.front().count()},
                       {"window", window}};
  }

  bool load(const safetensors::File& file, const ordered_json& facts,
            std::uint64_t /*done*/) override {
    if (!facts.contains("signal")) return false;
    const ordered_json& saved = facts["signal"];
    if (saved["window"].size() != window_.size()) return false;
    for (std::size_t i = 0; i < averages_.size(); ++i) {
      const std::string& name = model_.tensors[i].name;
      if (!read_tensor(file, "u/" + name, averages_[i].u())) return false;
      if (!read_tensor(file, "v/" + name, averages_[i].v())) return false;
      averages_[i].set_count(saved["count"].get<std::uint64_t>());
    }
    for (std::size_t k = 0; k < window_.size(); ++k) {
      const ordered_json& one = saved["window"][k];
      window_[k] = {one[0].get<double>(), one[1].get<double>(), one[2].get<std::uint64_t>()};
    }
    return true;
  }

  std::uint64_t state_bytes() const override { return 2 * sizeof(float) * model_.elements; }

 private:
  void report(std::uint64_t step) {
    const double kappa = averages_.front().kappa();
    const auto sums = model_.sums<SignalSums>([&](std::size_t i) { return averages_[i].sums(); });
    for (std::size_t k = 0; k < sums.size(); ++k) {
      const auto fraction = diagnosis::signal_fraction(sums[k].u_squared, sums[k].v, kappa);
      run::DiagnosisEvent event{
          .step = step, .kind = "signal", .group = model_.groups[k], .values = {}};
      event.values = {{"raw", fraction.raw},
                      {"kappa", kappa},
                      {"rho", fraction.rho},
                      {"snr", fraction.snr},
                      {"silent", silent_share(sums[k])}};
      // Where v is a constant it says nothing of d.
      if (model_.tensors.front().method.estimator != Estimator::constant) {
        event.values.emplace_back("amp_max", window_[k].largest);
        event.values.emplace_back("amp_mean", window_[k].mean());
        const auto bound = amplification_bound(model_.tensors.front().method);
        if (bound) event.values.emplace_back("amp_bound", bound);
      }
      tell_(event);
    }
    window_.assign(model_.groups.size(), {});
  }

  static std::optional<double> silent_share(const SignalSums& sums) {
    if (sums.blocks == 0) return std::nullopt;
    return static_cast<double>(sums.silent) / static_cast<double>(sums.blocks);
  }

  const DiagnosedModel& model_;
  TellDiagnosis tell_;
  std::vector<diagnosis::SignalAverages<float>> averages_;
  std::vector<Amplification> window_;  // since the last report, a group each
};

}  // namespace

std::unique_ptr<Diagnoser> signal_diagnoser(const DiagnosedModel& model, TellDiagnosis tell) {
  return std::make_unique<SignalDiagnoser>(model, std::move(tell));
}

}  // namespace bcos::lab::diagnosis
