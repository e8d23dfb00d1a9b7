#include "lab/report/page_data.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "lab/plot/thin.hpp"

namespace bcos::lab::report {
namespace {

using Json = nlohmann::ordered_json;

template <class Point, class Value>
plot::Curve curve_of(const std::vector<Point>& points, Value value) {
  plot::Curve curve;
  curve.steps.reserve(points.size());
  curve.values.reserve(points.size());
  for (const Point& point : points) {
    curve.steps.push_back(point.step);
    curve.values.push_back(value(point));
  }
  return curve;
}

bool has_values(const plot::Curve& curve) {
  return std::ranges::any_of(curve.values, [](double value) { return std::isfinite(value); });
}

class Curves {
 public:
  explicit Curves(std::size_t most_points) : most_(most_points) {}

  /// A curve without a single value is left out.
  void add(const char* name, const plot::Curve& curve) {
    if (!has_values(curve)) return;
    thinned_ = thinned_ || curve.steps.size() > most_;
    put(name, plot::thin(curve, most_));
  }
  /// What the page smooths; left out where it would be the curve itself.
  void add_means(const char* name, const plot::Curve& curve) {
    if (has_values(curve) && curve.steps.size() > most_) put(name, plot::piece_means(curve, most_));
  }

  const Json& json() const { return json_; }
  bool thinned() const { return thinned_; }

 private:
  void put(const char* name, const plot::Curve& curve) {
    json_[name] = {{"x", curve.steps}, {"y", curve.values}};
  }

  std::size_t most_;
  Json json_ = Json::object();
  bool thinned_ = false;
};

Curves curves_of(const run::Metrics& metrics, std::size_t most_points) {
  Curves curves(most_points);
  const plot::Curve loss = curve_of(metrics.train, [](const run::TrainPoint& p) { return p.loss; });
  const plot::Curve norm = curve_of(metrics.train, [](const run::TrainPoint& p) { return p.norm; });
  const plot::Curve share = curve_of(metrics.train, [](const run::TrainPoint& p) {
    return p.ms > 0 ? p.opt_ms / p.ms : run::kNoNumber;
  });
  curves.add("train", loss);
  curves.add_means("train_means", loss);
  curves.add("validation", curve_of(metrics.eval, [](const run::EvalPoint& p) { return p.loss; }));
  curves.add("accuracy",
             curve_of(metrics.eval, [](const run::EvalPoint& p) { return p.accuracy; }));
  curves.add("lr", curve_of(metrics.train, [](const run::TrainPoint& p) { return p.lr; }));
  curves.add("norm", norm);
  curves.add_means("norm_means", norm);
  curves.add("share", share);
  curves.add_means("share_means", share);
  return curves;
}

/// {kind: {group: {key: curve}}}.
Json diagnosis_of(const run::Metrics& metrics, std::size_t most_points) {
  Json kinds = Json::object();
  std::map<std::tuple<std::string, std::string, std::string>, plot::Curve> curves;
  for (const run::DiagnosisPoint& point : metrics.diagnosis) {
    for (const auto& [key, value] : point.values) {
      plot::Curve& curve = curves[{point.kind, point.group, key}];
      curve.steps.push_back(point.step);
      curve.values.push_back(value);
    }
  }
  for (const auto& [place, curve] : curves) {
    const auto& [kind, group, key] = place;
    const plot::Curve thinned = plot::thin(curve, most_points);
    kinds[kind][group][key] = {{"x", thinned.steps}, {"y", thinned.values}};
  }
  return kinds;
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

}  // namespace

PageData page_data(bool comparison, std::span<const run::RunRecord> runs, const Comparison& summary,
                   std::size_t most_points) {
  PageData data;
  const std::vector<std::string> methods = summary.methods();
  std::vector<bool> at_best(runs.size(), false);
  for (const Group* group : summary.best()) {
    for (const std::size_t index : group->runs) at_best[index] = true;
  }
  data.json = {{"comparison", comparison},
               {"methods", methods},
               {"runs", Json::array()},
               {"groups", Json::array()}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunSummary& run = summary.runs[i];
    const Curves curves = curves_of(runs[i].metrics, most_points);
    data.thinned = data.thinned || curves.thinned();
    data.json["runs"].push_back({{"name", runs[i].name},
                                 {"method", run.method},
                                 {"lr", number(run.lr)},
                                 {"seed", run.seed},
                                 {"steps", run.steps},
                                 {"final", number(run.final_loss)},
                                 {"atBestLr", static_cast<bool>(at_best[i])},
                                 {"curves", curves.json()},
                                 {"diagnosis", diagnosis_of(runs[i].metrics, most_points)}});
  }
  for (const Group& group : summary.groups) {
    data.json["groups"].push_back({{"method", group.method},
                                   {"lr", number(group.lr)},
                                   {"runs", group.runs},
                                   {"final", number(group.final_loss.mean)},
                                   {"deviation", number(group.final_loss.deviation)}});
  }
  return data;
}

}  // namespace bcos::lab::report
