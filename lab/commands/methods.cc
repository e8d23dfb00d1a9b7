#include "bcos/methods.hpp"

#include <memory>
#include <nlohmann/json.hpp>

#include "bcos/text.hpp"
#include "lab/cli/method_text.hpp"
#include "lab/cli/options.hpp"
#include "lab/cli/output.hpp"
#include "lab/cli/table.hpp"
#include "lab/cli/usage.hpp"
#include "lab/commands/commands.hpp"

namespace bcos::lab::commands {
namespace {

using nlohmann::ordered_json;

struct Options {
  std::string name;
  bool json = false;
};

std::string bound_of(const Method& method) {
  const auto bound = amplification_bound(method);
  return bound ? fmt::format("{:.4f}", *bound) : "none";
}

std::string number(bool used, double value) { return used ? fmt::format("{:g}", value) : "-"; }

void print_table() {
  cli::Table table({{"method"},
                    {"direction"},
                    {"estimator"},
                    {"beta", cli::Align::right},
                    {"beta_v", cli::Align::right},
                    {"eps", cli::Align::right},
                    {"eps_root", cli::Align::right},
                    {"decay (lambda)"},
                    {"start"},
                    {"state", cli::Align::right},
                    {"C", cli::Align::right}});
  for (const auto& [id, pointer] : named_methods()) {
    const Method& method = *pointer;
    const NumbersUsed used = numbers_used(method);
    table.add({std::string(id), std::string(name(method.direction)),
               std::string(name(method.estimator)), number(used.beta, method.beta),
               number(used.beta_v, method.beta_v), number(used.eps, method.eps),
               number(used.eps_root, method.eps_root),
               fmt::format("{} ({:g})", name(method.decay), method.lambda),
               cli::state_bytes(method) == 0 ? "-" : std::string(name(method.start)),
               fmt::format("{}", cli::state_bytes(method)), bound_of(method)});
  }
  cli::write_out(table.text());
  cli::print(
      "\nstate: bytes a float32 parameter; C: a coordinate moves by at most alpha C,\n"
      "besides its decay.\n"
      "`bcos methods NAME` shows one method, NAME@paper the form that the paper used.\n");
}

ordered_json described(const std::string& id, const Method& method) {
  ordered_json object = {{"id", id}};
  object.update(ordered_json::parse(to_json(method)));
  object["state_bytes"] = cli::state_bytes(method);
  const auto bound = amplification_bound(method);
  object["bound"] = bound ? ordered_json(*bound) : ordered_json(nullptr);
  object["formula"] = cli::formula_of(method);
  return object;
}

void print_one(const std::string& id, const Method& method) {
  cli::print("{}\n\n  {}\n\n", id, cli::formula_of(method));
  cli::print("state: {} bytes a float32 parameter\nC: {}\n\n", cli::state_bytes(method),
             bound_of(method));
  cli::print("JSON:\n{}\n\nTOML:\n{}", to_json(method), to_toml(method));
}

void run(const Options& options) {
  if (!options.name.empty()) {
    const Method method = cli::as_usage([&] { return cli::method_given(options.name); });
    if (!options.json) return print_one(options.name, method);
    return cli::print("{}\n", described(options.name, method).dump(2));
  }
  if (!options.json) return print_table();
  ordered_json all = ordered_json::array();
  for (const auto& [id, method] : named_methods()) {
    all.push_back(described(std::string(id), *method));
  }
  cli::print("{}\n", all.dump(2));
}

}  // namespace

void add_methods(cli::Program& program) {
  const auto options = std::make_shared<Options>();
  CLI::App& app = program.add("methods", "List the named methods, or explain one",
                              {"bcos methods", "bcos methods bcosw_c@paper",
                               R"(bcos methods '{"method": "bcosw_c", "lambda": 0.05}')",
                               "bcos methods @method.toml", "bcos methods --json"},
                              [options] { run(*options); });
  cli::add_text(app, "NAME", "", options->name,
                "id of a method, perhaps with @paper; JSON; or @FILE, a .json or .toml file");
  app.add_flag("--json", options->json, "JSON for programs");
}

}  // namespace bcos::lab::commands
