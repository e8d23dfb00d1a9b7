#include "engine/error.hpp"
#include "lab/loop/train.hpp"

/// What stands in for the trainer where LibTorch was not found at build time.
namespace bcos::lab::loop {
namespace {

Error missing(std::string_view function) {
  return fail(
      function,
      "expected a program built with LibTorch but this one is not: `pip install torch` into "
      "the Python that CMake finds (./run build does it), then build again");
}

}  // namespace

run::Outcome train(const TrainRequest& /*request*/) { throw missing("train"); }
void check_start(const run::Settings& /*settings*/) { throw missing("train"); }
std::string sample(const SampleRequest& /*request*/) { throw missing("sample"); }
std::string export_gpt2(const std::string& /*checkpoint*/, const std::string& /*path*/) {
  throw missing("sample");
}

}  // namespace bcos::lab::loop
