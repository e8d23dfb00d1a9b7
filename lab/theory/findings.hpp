#pragma once

#include <string>
#include <vector>

#include "lab/numbers/statistics.hpp"
#include "lab/plot/figure.hpp"

namespace bcos::lab::theory {

enum class Relation { equal, at_most, at_least };

/// What a check is about.
enum class Form {
  claim,    ///< the prediction, in its right form: it must hold
  printed,  ///< what the paper prints where it is wrong or loose: recorded beside the right form
  quoted,  ///< a figure of the specification, to its digits: must hold, but catches no mutant alone
};

/// A measured number against a predicted one.
struct Check {
  std::string what;
  Relation relation = Relation::equal;
  numbers::Estimate
      measured;          ///< what is random has a standard error: se = 0 says that it was computed
  double predicted = 0;  ///< a value, or a bound
  double slack = 0;      ///< allowed besides the standard errors: rounding, or a stated model error
  Form form = Form::claim;
  std::size_t among = 1;  ///< comparisons of which this is the worst: each step of a course counts
  bool expected_to_hold = true;  ///< printed forms alone may be expected to fail

  /// How far the measured number is on the wrong side of the predicted one; 0 if it is not.
  double excess() const;
  bool holds(double errors) const { return excess() <= errors * measured.se + slack; }
  /// As a claim: it holds. As a printed form: it does what its erratum says.
  bool passes(double errors) const { return holds(errors) == expected_to_hold; }
  /// Missed by more than ten standard errors, or by more than a hundred times the slack.
  bool clearly_missed() const;
};

/// What a claim found: checks in the order of their telling (the first one stands for the claim in
/// the table), numbers worth keeping, and pictures.
class Findings {
 public:
  /// slack < 0: 1e-12 (1 + |predicted|), for rounding.
  Check& equal(std::string what, numbers::Estimate measured, double predicted, double slack = -1);
  Check& at_most(std::string what, numbers::Estimate measured, double bound, double slack = -1);
  Check& at_least(std::string what, numbers::Estimate measured, double bound, double slack = -1);
  /// The last check is the printed form, and the erratum says whether it holds.
  static void as_printed(Check& check, bool expected_to_hold);
  /// The last check is a figure quoted in the specification.
  static void as_quoted(Check& check) { check.form = Form::quoted; }

  void number(std::string name, numbers::Estimate value) {
    numbers_.push_back({std::move(name), value});
  }
  void figure(lab::plot::Figure figure) { figures_.push_back(std::move(figure)); }

  struct Number {
    std::string name;
    numbers::Estimate value;
  };
  const std::vector<Check>& checks() const { return checks_; }
  const std::vector<Number>& numbers() const { return numbers_; }
  const std::vector<lab::plot::Figure>& figures() const { return figures_; }

  /// Standard errors each check is given.
  double errors() const;
  bool pass() const;
  /// The check that stands for all: the first that does not pass, else the first.
  const Check& headline() const;
  /// Whether a wrong formula was seen to be wrong: a claim was clearly missed, and not a quoted
  /// figure alone.
  bool caught() const;

 private:
  Check& add(std::string what, Relation relation, numbers::Estimate measured, double predicted,
             double slack);

  std::vector<Check> checks_;
  std::vector<Number> numbers_;
  std::vector<lab::plot::Figure> figures_;
};

}  // namespace bcos::lab::theory
