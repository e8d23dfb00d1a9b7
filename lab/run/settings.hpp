#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "bcos/method.hpp"
#include "bcos/schedule.hpp"

/// The settings of a run: one struct with the defaults, one table with a name and a help text for
/// each, from which flags, TOML files, printing and checks are made.
namespace bcos::lab::run {

struct Settings {
  std::string preset;
  std::string name;
  std::string out = "runs";
  std::uint64_t seed = 0;
  std::uint64_t threads = 0;

  std::string data = "headers";
  std::string val;
  std::string format = "auto";
  std::string bpe;
  double val_fraction = 0.1;
  std::uint64_t vocab_size = 0;
  std::uint64_t image_size = 224;
  bool augment = true;
  double smallest_crop = 1;
  double erase = 0;
  double mixup = 0;
  double cutmix = 0;

  std::string model = "gpt";
  std::uint64_t layers = 2;
  std::uint64_t width = 64;
  std::uint64_t heads = 2;
  std::uint64_t context = 64;
  std::string positions = "learned";
  std::string activation = "gelu";
  bool bias = true;
  bool tied = true;
  double dropout = 0;
  std::uint64_t depth = 20;
  std::uint64_t patch = 16;
  double drop_path = 0;
  double label_smoothing = 0;
  std::vector<std::uint64_t> hidden = {256, 128};
  std::string init_from;

  std::uint64_t batch = 32;
  std::uint64_t total_batch = 0;
  std::uint64_t steps = 800;
  double epochs = 0;

  std::string method = "bcosw_c";
  std::optional<double> lr;
  double adamw_lr = 2e-3;
  std::optional<double> weight_decay;
  std::optional<double> decay_rate;
  bool decay_all = false;
  std::optional<double> beta;
  std::optional<double> beta_v;
  std::optional<double> eps;
  std::optional<double> eps_root;
  std::string start;
  double clip = 1;
  std::uint64_t most_bad_steps = 10;

  std::string schedule = "cosine";
  std::uint64_t warmup = 0;
  double warmup_part = 0;
  double lr_floor = 0.01;
  std::uint64_t decay_steps = 0;
  std::vector<std::uint64_t> milestones;
  double factor = 0.1;

  std::uint64_t eval_every = 100;
  std::uint64_t eval_batches = 20;
  std::uint64_t checkpoint_every = 0;
  std::uint64_t keep = 2;
  std::uint64_t log_every = 10;

  std::string diagnose;
  std::uint64_t diagnose_every = 0;
  std::string diagnose_ref;

  bool operator==(const Settings&) const = default;
};

/// What a setting has a say in.
enum class Role {
  trains,    ///< decides the weights, or what they are measured by: another value is another run
  numerics,  ///< decides the last digits alone
  looks,     ///< decides what is seen and kept of a run
  place,     ///< decides what a run is called and where it lies
};

/// One of the settings, for those who walk over all of them.
struct Field {
  using Member =
      std::variant<std::string Settings::*, std::uint64_t Settings::*, double Settings::*,
                   bool Settings::*, std::optional<double> Settings::*,
                   std::vector<std::uint64_t> Settings::*>;
  std::string_view key;
  Role role = Role::trains;
  std::string_view group;  ///< heading in the help
  std::string_view help;
  Member member;
  std::vector<std::string_view> choices = {};  ///< empty: any value of the type
  std::uint64_t least = 0;                     ///< of whole numbers
  std::uint64_t most = kMostCount;

  /// What files and JSON hold without loss.
  static constexpr std::uint64_t kMostCount = std::uint64_t{1} << 53;
};
std::span<const Field> fields();

/// The field of this key, with - or _ between words. Throws UsageError naming the nearest.
const Field& field_of(std::string_view key);

/// Sets a field from the text of a flag. Of two that exclude each other (lr and
/// adamw_lr, steps and epochs, warmup and warmup_part, weight_decay and decay_rate) the one that is
/// set last counts. Throws UsageError naming key, kind and text.
void set_field(Settings& settings, const Field& field, const std::string& text);

/// Throws UsageError if two of these keys exclude each other.
void refuse_doubles(std::span<const std::string_view> keys);

std::string text_of(const Settings& settings, const Field& field);
void copy_field(Settings& to, const Settings& from, const Field& field);

/// What a value looks like in the help: N, X, TEXT, a|b, yes|no, N,N.
std::string kind_of(const Field& field);

/// `base` with what a TOML file says. Throws UsageError naming file and key, also where the file
/// says one thing twice.
Settings settings_from_toml(Settings base, const std::string& text, const std::string& path);
/// All settings that count, a line each; reading it gives the settings back.
std::string to_toml(const Settings& settings);

/// Throws UsageError if a setting is out of bounds or they do not fit together.
void validate(const Settings& settings);

/// The method with the numbers that were given: a named one, or one written as JSON. Its lambda is
/// weight_decay, or follows from decay_rate.
Method method_of(const Settings& settings);
/// Whether a method's v remembers g for longer than its m does, so that its steps are about four
/// times shorter than alpha, as Adam's are.
bool is_adam(const Method& method);
/// lr, or what follows from adamw_lr: a quarter of it for methods that move every coordinate by
/// about alpha. Throws UsageError where there is no rule.
double lr_of(const Settings& settings);
/// The first setting that gives two runs models of different tensors, or the same tensors another
/// meaning; empty if their weights may be compared and exchanged.
std::string other_model(const Settings& a, const Settings& b);

/// The words of Settings::diagnose. Throws UsageError that names the nearest for an unknown one.
std::vector<std::string> diagnoses_of(const Settings& settings);

/// Every so many steps: as the settings say, or about fifty times a run.
std::uint64_t diagnose_every(const Settings& settings, std::uint64_t steps);

/// The schedule of a run of this many steps.
Schedule schedule_of(const Settings& settings, std::uint64_t steps);

}  // namespace bcos::lab::run
