#include "lab/diagnosis/diagnosis.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "bcos/optimizer.hpp"
#include "lab/diagnosis/null_cosine.hpp"
#include "lab/run/checkpoint_store.hpp"
#include "lab/theory/noise.hpp"
#include "tests/engine/expect_error.hpp"
#include "tests/scratch.hpp"

namespace bcos::lab::diagnosis {
namespace {

namespace fs = std::filesystem;
using bcos::testing::error_of;
using theory::key_of;
using theory::Noise;
using Vector = std::vector<double>;

constexpr std::uint64_t kSteps = 24;

/// Two tensors that are pulled to 1 and pushed by noise: a matrix that decays and a vector that
/// does not.
class Toy {
 public:
  explicit Toy(const Method& method) : optimizer_(method) {
    const Method undecayed = with(method, {.lambda = 0.0});
    const GroupId other = optimizer_.add_group(undecayed);
    ids_ = {optimizer_.add("h.0.attn.c_attn.weight", weights_[0], {5, 8}),
            optimizer_.add("h.0.ln_1.weight", weights_[1], {7}, other)};
    methods_ = {method, undecayed};
    for (std::vector<float>& w : weights_) {
      for (std::size_t i = 0; i < w.size(); ++i) w[i] = 0.1F * static_cast<float>(i % 5);
    }
  }

  std::vector<DiagnosedTensor> tensors() {
    return {{"h.0.attn.c_attn.weight", tensor_group("h.0.attn.c_attn.weight", 2), weights_[0],
             methods_[0]},
            {"h.0.ln_1.weight", tensor_group("h.0.ln_1.weight", 1), weights_[1], methods_[1]}};
  }

  std::vector<float> gradient(std::uint64_t step, std::size_t tensor) const {
    theory::Noise z(theory::key_of("toy"), tensor, step);
    std::vector<float> g;
    for (const float x : weights_[tensor]) g.push_back(0.3F * (x - 1) + float(z.normal()));
    return g;
  }

  void step(std::uint64_t t, Diagnosis* diagnosis = nullptr, bool bad = false,
            bool without_vector = false) {
    const double alpha = 0.05 / static_cast<double>(1 + t);
    if (diagnosis != nullptr) diagnosis->before_step();
    std::vector<std::vector<float>> g = {gradient(t, 0), gradient(t, 1)};
    std::vector<ParameterGradient> list;
    for (std::size_t i = 0; i < 2 && !bad; ++i) {
      if (without_vector && i == 1) continue;
      const Tap tap = diagnosis == nullptr ? Tap{} : diagnosis->taps()[i];
      list.emplace_back(ids_[i], Gradient{.data = g[i].data(), .tap = tap});
    }
    if (!bad) optimizer_.step(alpha, list);
    if (diagnosis != nullptr) diagnosis->after_step(t, alpha, bad);
  }

  void save(const std::string& path) const {
    optimizer_.save(path);
    saved_ = weights_;
  }
  void load(const std::string& path) {
    optimizer_.load(path);
    weights_ = saved_;
  }

  Vector all() const {
    Vector list(weights_[0].begin(), weights_[0].end());
    list.insert(list.end(), weights_[1].begin(), weights_[1].end());
    return list;
  }
  const std::vector<std::vector<float>>& weights() const { return weights_; }
  Optimizer& optimizer() { return optimizer_; }

 private:
  std::vector<std::vector<float>> weights_ = {std::vector<float>(40), std::vector<float>(7)};
  mutable std::vector<std::vector<float>> saved_;
  Optimizer optimizer_;
  std::vector<ParameterId> ids_;
  std::vector<Method> methods_;
};

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
Vector minus(Vector a, const Vector& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return a;
}
double cosine(const Vector& a, const Vector& b) {
  return dot(a, b) / std::sqrt(dot(a, a) * dot(b, b));
}

using Values = std::map<std::string, std::optional<double>>;
using Place = std::tuple<std::string, std::string, std::uint64_t>;  // kind, group, step

class ADiagnosis : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = bcos::testing::scratch_path("diagnosis");
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    settings_.diagnose = "aiming,signal";
    settings_.diagnose_every = 4;
    settings_.steps = kSteps;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::unique_ptr<Diagnosis> look_at(Toy& toy) {
    DiagnosisOptions options{.settings = settings_,
                             .steps = kSteps,
                             .data = "these",
                             .directory = folder_.string(),
                             .tell = {},
                             .notice = {}};
    options.tell = [this](const run::DiagnosisEvent& event) {
      Values& values = seen_[{event.kind, event.group, event.step}];
      for (const auto& [key, value] : event.values) values[key] = value;
    };
    options.notice = [this](const std::string& text) { notices_ += text + "\n"; };
    return std::make_unique<Diagnosis>(options, toy.tensors());
  }

  void run(const Method& method) {
    Toy toy(method);
    const auto diagnosis = look_at(toy);
    diagnosis->begin(0, "");
    for (std::uint64_t t = 0; t < kSteps; ++t) toy.step(t, diagnosis.get());
    diagnosis->end();
  }

  const Values& at(const std::string& kind, const std::string& group, std::uint64_t step) {
    return seen_.at({kind, group, step});
  }
  double value(const std::string& kind, const std::string& group, std::uint64_t step,
               const std::string& key) {
    const std::optional<double> found = at(kind, group, step).at(key);
    EXPECT_TRUE(found) << key;
    return found.value_or(0);
  }

  /// A checkpoint of the toy's weights, as the trainer saves it.
  std::string write_checkpoint(const Toy& toy, const run::Settings& settings, std::uint64_t step,
                               const std::string& data = "these") {
    fs::remove_all(folder_ / "other");
    const std::string run = (folder_ / "other").string();
    fs::create_directories(run);
    run::CheckpointStore store(run + "/checkpoints", 1);
    const auto write = [&](const std::string& path) {
      std::vector<safetensors::TensorData> tensors;
      const char* const names[] = {"h.0.attn.c_attn.weight", "h.0.ln_1.weight"};
      for (std::size_t i = 0; i < 2; ++i) {
        const std::span<const float> w = toy.weights()[i];
        tensors.push_back({names[i], "F32", {w.size()}, std::as_bytes(w)});
      }
      safetensors::write(path, tensors, {});
    };
    const std::vector<run::NamedFileWriter> files = {{"model.safetensors", write}};
    store.save(step, files, {{"settings", run::to_toml(settings)}, {"data", data}}, false);
    return run;
  }

  fs::path folder_;
  run::Settings settings_;
  std::map<Place, Values> seen_;
  std::string notices_;
};

TEST_F(ADiagnosis, ChangesNoBitOfTheRun) {
  for (const Method& method : {bcosw_c, adamw, bcos_g, sgd_momentum, sign_sgd}) {
    Toy plain(method);
    Toy looked_at(method);
    const auto diagnosis = look_at(looked_at);
    diagnosis->begin(0, "");
    for (std::uint64_t t = 0; t < kSteps; ++t) {
      plain.step(t);
      looked_at.step(t, diagnosis.get());
    }
    EXPECT_EQ(plain.weights(), looked_at.weights()) << name_of(method);
  }
}

/// The whole trajectory in float64, from the engine's own weights and momenta.
TEST_F(ADiagnosis, HasTheCosinesToTheLastWeights) {
  run(bcosw_c);
  Toy toy(bcosw_c);
  std::vector<Vector> x;
  std::vector<Vector> g;
  std::vector<Vector> m;
  for (std::uint64_t t = 0; t < kSteps; ++t) {
    x.push_back(toy.all());
    Vector gradient;
    for (std::size_t i = 0; i < 2; ++i) {
      for (const float value : toy.gradient(t, i)) gradient.push_back(value);
    }
    g.push_back(gradient);
    toy.step(t);
    Vector momentum;
    for (std::size_t i = 0; i < 2; ++i) {
      const auto* data = static_cast<const float*>(toy.optimizer().state({i}).m.data);
      momentum.insert(momentum.end(), data, data + toy.weights()[i].size());
    }
    m.push_back(momentum);
  }
  x.push_back(toy.all());
  for (const std::uint64_t t : {4U, 20U}) {
    const Vector e = minus(x[t], x[kSteps]);
    Vector direction(e.size());
    Vector step(e.size());
    double margin = 0;
    for (std::size_t i = 0; i < e.size(); ++i) {
      const double before = m[t - 1][i];
      const double v =
          0.81 * (2 - 0.81) * before * before + 0.01 * std::pow(g[t][i] + 0.9 * before, 2);
      const double lambda = i < 40 ? 0.1 : 0;
      direction[i] = m[t][i] / std::sqrt(v + 1e-12);
      step[i] = direction[i] + lambda * x[t][i];
      margin += e[i] * (direction[i] + lambda * x[kSteps][i]);
    }
    EXPECT_NEAR(value("aiming", "all", t, "cos_g"), cosine(e, g[t]), 1e-5);
    EXPECT_NEAR(value("aiming", "all", t, "cos_m"), cosine(e, m[t]), 1e-5);
    EXPECT_NEAR(value("aiming", "all", t, "cos_d"), cosine(e, direction), 1e-5);
    EXPECT_NEAR(value("aiming", "all", t, "cos_step"), cosine(e, step), 1e-5);
    EXPECT_NEAR(value("aiming", "all", t, "margin"), margin, 1e-5);
    EXPECT_NEAR(value("aiming", "all", t, "distance"), std::sqrt(dot(e, e)), 1e-6);
    const Vector of_vectors(e.begin() + 40, e.end());
    EXPECT_NEAR(value("aiming", "vectors", t, "cos_m"),
                cosine(of_vectors, Vector(m[t].begin() + 40, m[t].end())), 1e-5);
    Vector lengths;
    for (std::uint64_t s = 0; s < kSteps; ++s) {
      const Vector moved = minus(x[s + 1], x[s]);
      lengths.push_back(std::sqrt(dot(moved, moved)));
    }
    const double null = *diagnosis::null_cosines(lengths, 0.9)[t];
    EXPECT_NEAR(value("aiming", "all", t, "null_step"), null, 1e-6);
    EXPECT_NEAR(value("aiming", "all", t, "null_d"), null * cosine(direction, step), 1e-5);
    EXPECT_NEAR(value("aiming", "all", t, "null_m"), null * cosine(m[t], step), 1e-5);
    EXPECT_NEAR(value("aiming", "all", t, "null_g"), null * cosine(g[t], step), 1e-5);
  }
  EXPECT_EQ(seen_.count({"aiming", "attention", 0}), 1U);
  EXPECT_EQ(seen_.count({"aiming", "all", 5}), 0U) << "5 is not due";
}

TEST_F(ADiagnosis, OfAMethodWithoutMomentumHasNone) {
  run(bcosw_g);
  EXPECT_EQ(at("aiming", "all", 4).count("cos_m"), 0U);
  EXPECT_EQ(at("aiming", "all", 4).count("null_m"), 0U);
  EXPECT_LT(value("aiming", "all", 4, "null_g"), value("aiming", "all", 4, "null_step"));
  EXPECT_EQ(at("aiming", "all", 4).count("cos_step"), 1U);
  seen_.clear();
  run(sgd_momentum);
  EXPECT_EQ(at("aiming", "all", 4).count("cos_step"), 0U) << "nothing decays";
  EXPECT_EQ(at("signal", "all", 4).count("amp_max"), 0U) << "v is a constant";
}

TEST_F(ADiagnosis, HasTheSignalFractionOfTheGradient) {
  run(bcosw_c);
  Toy toy(bcosw_c);
  Vector u;
  Vector v;
  for (std::uint64_t t = 0; t < kSteps; ++t) {
    Vector g;
    for (std::size_t i = 0; i < 2; ++i) {
      for (const float value : toy.gradient(t, i)) g.push_back(value);
    }
    if (t == 0) {
      u = g;
      v = g;
      for (double& value : v) value *= value;
    } else {
      for (std::size_t i = 0; i < g.size(); ++i) {
        u[i] = 0.9 * u[i] + 0.1 * g[i];
        v[i] = 0.9 * v[i] + 0.1 * g[i] * g[i];
      }
    }
    toy.step(t);
    if (t % 4 != 0) continue;
    double squares = 0;
    double power = 0;
    double silent = 0;
    const double old = std::pow(0.9, 2.0 * static_cast<double>(t));
    const double kappa = old + 0.1 / 1.9 * (1 - old);
    for (std::size_t i = 0; i < u.size(); ++i) {
      squares += u[i] * u[i];
      power += v[i];
      silent += u[i] * u[i] <= kappa * v[i] ? 1 : 0;
    }
    EXPECT_NEAR(value("signal", "all", t, "raw"), squares / power, 1e-6);
    EXPECT_NEAR(value("signal", "all", t, "kappa"), kappa, 1e-12);
    if (t == 0) {
      EXPECT_FALSE(at("signal", "all", 0).at("rho")) << "one sample says nothing";
      continue;
    }
    const double rho = std::clamp((squares / power - kappa) / (1 - kappa), 0.0, 1.0);
    EXPECT_NEAR(value("signal", "all", t, "rho"), rho, 1e-6);
    EXPECT_NEAR(value("signal", "all", t, "snr"), rho / (1 - rho), 1e-6);
    EXPECT_NEAR(value("signal", "all", t, "silent"), silent / 47, 1e-9);
    EXPECT_LE(value("signal", "all", t, "amp_max"), value("signal", "all", t, "amp_bound") + 1e-6);
    EXPECT_GT(value("signal", "all", t, "amp_max"), value("signal", "all", t, "amp_mean"));
  }
  EXPECT_NEAR(value("signal", "all", 4, "amp_bound"), 1.2964, 1e-4);
}

TEST_F(ADiagnosis, GoesOnAsIfItHadNotBeenInterrupted) {
  run(adamw);
  const auto whole = seen_;
  seen_.clear();
  notices_.clear();

  Toy toy(adamw);
  const std::string state = (folder_ / "state.safetensors").string();
  const std::string saved = (folder_ / "optimizer.safetensors").string();
  {
    const auto diagnosis = look_at(toy);
    diagnosis->begin(0, "");
    for (std::uint64_t t = 0; t < 10; ++t) toy.step(t, diagnosis.get());
    diagnosis->save(state);
    toy.save(saved);
    // What comes after the checkpoint is lost, and done again.
    for (std::uint64_t t = 10; t < 15; ++t) toy.step(t, diagnosis.get());
  }
  EXPECT_TRUE(fs::exists(folder_ / "diagnosis"));
  toy.load(saved);
  const auto diagnosis = look_at(toy);
  diagnosis->begin(10, state);
  EXPECT_FALSE(fs::exists(folder_ / "diagnosis/step-00000012.safetensors"));
  for (std::uint64_t t = 10; t < kSteps; ++t) toy.step(t, diagnosis.get());
  diagnosis->end();
  EXPECT_EQ(seen_, whole);
  EXPECT_FALSE(fs::exists(folder_ / "diagnosis")) << "what it kept is not needed any more";
  EXPECT_EQ(notices_.find("begins"), std::string::npos);
}

TEST_F(ADiagnosis, ThatBeginsInTheMiddleSaysSo) {
  Toy toy(bcosw_c);
  for (std::uint64_t t = 0; t < 10; ++t) toy.step(t);
  const auto diagnosis = look_at(toy);
  diagnosis->begin(10, (folder_ / "none.safetensors").string());
  EXPECT_NE(notices_.find("aiming begins at step 10"), std::string::npos) << notices_;
  EXPECT_NE(notices_.find("signal begins at step 10"), std::string::npos) << notices_;
  for (std::uint64_t t = 10; t < kSteps; ++t) toy.step(t, diagnosis.get());
  diagnosis->end();
  EXPECT_EQ(std::get<2>(seen_.begin()->first), 12U);
  EXPECT_TRUE(at("aiming", "all", 12).at("null_step"));
}

TEST_F(ADiagnosis, AimsAtAnotherRunAtOnce) {
  Toy other(bcosw_c);
  for (std::uint64_t t = 0; t < 40; ++t) other.step(t);
  run::Settings elsewhere = settings_;
  elsewhere.seed = 7;
  settings_.diagnose_ref = write_checkpoint(other, elsewhere, 40);
  Toy toy(bcosw_c);
  const auto diagnosis = look_at(toy);
  diagnosis->begin(0, "");
  const Vector e = minus(toy.all(), other.all());
  toy.step(0, diagnosis.get());
  EXPECT_NEAR(value("aiming", "all", 0, "distance"), std::sqrt(dot(e, e)), 1e-6);
  EXPECT_EQ(at("aiming", "all", 0).count("null_step"), 0U) << "no part of it is the run's own";
  EXPECT_FALSE(fs::exists(folder_ / "diagnosis"));
  EXPECT_EQ(notices_, "");
}

TEST_F(ADiagnosis, AimsAtItsOwnEndThroughAnEarlierRunOfTheSameSettings) {
  run(bcosw_c);
  const auto kept = seen_;
  seen_.clear();
  Toy first(bcosw_c);
  for (std::uint64_t t = 0; t < kSteps; ++t) first.step(t);
  run::Settings same = settings_;
  same.name = "first";
  same.diagnose = "";
  settings_.diagnose_ref = write_checkpoint(first, same, kSteps);
  run(bcosw_c);
  EXPECT_EQ(seen_, kept);
}

TEST_F(ADiagnosis, OnOtherThreadsOrDataIsNotAtItsOwnEnd) {
  Toy first(bcosw_c);
  run::Settings other = settings_;
  other.threads = 2;
  settings_.diagnose_ref = write_checkpoint(first, other, kSteps);
  run(bcosw_c);
  EXPECT_EQ(at("aiming", "all", 0).count("null_step"), 0U);
  seen_.clear();
  settings_.diagnose_ref = write_checkpoint(first, settings_, kSteps, "others");
  run(bcosw_c);
  EXPECT_EQ(at("aiming", "all", 0).count("null_step"), 0U);
}

TEST_F(ADiagnosis, RefusesAReferenceWithOtherHeads) {
  Toy toy(bcosw_c);
  run::Settings other = settings_;
  other.heads = 4;
  settings_.diagnose_ref = write_checkpoint(toy, other, kSteps);
  EXPECT_NE(error_of([&] { look_at(toy); }).find("has another heads"), std::string::npos);
}

TEST_F(ADiagnosis, OfItsOwnEndThroughAnEarlierRunMayBeInterrupted) {
  Toy first(adamw);
  for (std::uint64_t t = 0; t < kSteps; ++t) first.step(t);
  settings_.diagnose_ref = write_checkpoint(first, settings_, kSteps);
  run(adamw);
  const auto whole = seen_;
  seen_.clear();
  Toy toy(adamw);
  const std::string state = (folder_ / "state.safetensors").string();
  {
    const auto diagnosis = look_at(toy);
    diagnosis->begin(0, "");
    for (std::uint64_t t = 0; t < 10; ++t) toy.step(t, diagnosis.get());
    diagnosis->save(state);
  }
  const auto diagnosis = look_at(toy);
  diagnosis->begin(10, state);
  for (std::uint64_t t = 10; t < kSteps; ++t) toy.step(t, diagnosis.get());
  diagnosis->end();
  EXPECT_EQ(seen_, whole);
  EXPECT_TRUE(at("aiming", "all", 4).at("null_g"));
}

TEST_F(ADiagnosis, WarnsOfAReferenceWithTheSameSeed) {
  Toy other(bcosw_c);
  run::Settings longer = settings_;
  longer.steps = 1000;
  settings_.diagnose_ref = write_checkpoint(other, longer, 1000);
  Toy toy(bcosw_c);
  look_at(toy);
  EXPECT_NE(notices_.find("another --seed"), std::string::npos) << notices_;
}

TEST_F(ADiagnosis, RefusesAReferenceThatIsMissingOrOfAnotherModel) {
  Toy toy(bcosw_c);
  settings_.diagnose_ref = "/no/such/run";
  EXPECT_NE(error_of([&] { look_at(toy); }).find("'/no/such/run' has none"), std::string::npos);
  settings_.diagnose_ref = write_checkpoint(toy, settings_, 3);
  DiagnosisOptions options{.settings = settings_,
                           .steps = kSteps,
                           .data = "these",
                           .directory = folder_.string(),
                           .tell = {},
                           .notice = [](const std::string&) {}};
  std::vector<DiagnosedTensor> tensors = toy.tensors();
  tensors[1].name = "h.0.ln_2.weight";
  EXPECT_NE(error_of([&] { Diagnosis(options, tensors); }).find("has no 'h.0.ln_2.weight'"),
            std::string::npos);
  tensors = toy.tensors();
  tensors[0].x = tensors[0].x.first(10);
  const std::string message = error_of([&] { Diagnosis(options, tensors); });
  EXPECT_NE(message.find("160 bytes of F32 where this run has 40"), std::string::npos) << message;
}

TEST_F(ADiagnosis, LeavesOutADamagedSnapshotAndNamesIt) {
  Toy toy(bcosw_c);
  const auto diagnosis = look_at(toy);
  diagnosis->begin(0, "");
  for (std::uint64_t t = 0; t < kSteps; ++t) toy.step(t, diagnosis.get());
  fs::resize_file(folder_ / "diagnosis/step-00000008.safetensors", 50);
  diagnosis->end();
  EXPECT_EQ(seen_.count({"aiming", "all", 8}), 0U);
  EXPECT_EQ(seen_.count({"aiming", "all", 12}), 1U);
  EXPECT_NE(notices_.find("step 8 is left out"), std::string::npos) << notices_;
}

TEST_F(ADiagnosis, SaysNothingOfABadStep) {
  Toy toy(bcosw_c);
  const auto diagnosis = look_at(toy);
  diagnosis->begin(0, "");
  for (std::uint64_t t = 0; t < kSteps; ++t) toy.step(t, diagnosis.get(), t == 8 || t == 9);
  diagnosis->end();
  EXPECT_EQ(seen_.count({"aiming", "all", 8}), 0U);
  EXPECT_EQ(seen_.count({"signal", "all", 8}), 0U);
  EXPECT_EQ(seen_.count({"signal", "all", 12}), 1U);
  EXPECT_NEAR(value("signal", "all", 12, "kappa"), std::pow(0.9, 20) * (1 - 0.1 / 1.9) + 0.1 / 1.9,
              1e-12)
      << "11 samples came";
}

TEST_F(ADiagnosis, TakesATensorWithoutAGradientAsUnmoved) {
  Toy toy(bcosw_c);
  const auto diagnosis = look_at(toy);
  diagnosis->begin(0, "");
  for (std::uint64_t t = 0; t < kSteps; ++t) toy.step(t, diagnosis.get(), false, true);
  diagnosis->end();
  EXPECT_FALSE(at("aiming", "vectors", 4).at("cos_g"));
  EXPECT_FALSE(at("aiming", "vectors", 4).at("null_step")) << "nothing moved";
  EXPECT_EQ(at("signal", "vectors", 4).at("silent"), 1);
  EXPECT_TRUE(at("aiming", "attention", 4).at("cos_g"));
}

TEST(ATensorsGroup, IsWhatItIsFor) {
  EXPECT_EQ(tensor_group("wte.weight", 2), "embeddings");
  EXPECT_EQ(tensor_group("h.3.attn.c_proj.weight", 2), "attention");
  EXPECT_EQ(tensor_group("h.3.mlp.c_fc.weight", 2), "mlp");
  EXPECT_EQ(tensor_group("h.3.mlp.c_fc.bias", 1), "vectors");
  EXPECT_EQ(tensor_group("blocks.2.conv1.weight", 4), "convolutions");
  EXPECT_EQ(tensor_group("head.weight", 2), "output");
}

TEST(TheDiagnoses, AreWordsWithCommasBetween) {
  run::Settings settings;
  EXPECT_TRUE(run::diagnoses_of(settings).empty());
  settings.diagnose = "signal,aiming,signal";
  EXPECT_EQ(run::diagnoses_of(settings), (std::vector<std::string>{"aiming", "signal"}));
  settings.diagnose = "aimin";
  EXPECT_NE(error_of([&] { run::validate(settings); }).find("did you mean 'aiming'?"),
            std::string::npos);
  settings.diagnose = "signal";
  settings.diagnose_ref = "runs/a";
  EXPECT_NE(error_of([&] { run::validate(settings); }).find("diagnose = aiming with diagnose_ref"),
            std::string::npos);
}

TEST(TheDiagnoses, ComeAboutFiftyTimesARunUnlessSaid) {
  run::Settings settings;
  EXPECT_EQ(run::diagnose_every(settings, 800), 16U);
  EXPECT_EQ(run::diagnose_every(settings, 30), 1U);
  settings.diagnose_every = 7;
  EXPECT_EQ(run::diagnose_every(settings, 800), 7U);
}

}  // namespace
}  // namespace bcos::lab::diagnosis
