#include "lab/models/sample.hpp"

#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <cmath>

#include "engine/error.hpp"
#include "lab/models/gpt.hpp"

namespace bcos::lab::models {
namespace {

void check(const std::vector<std::int64_t>& prompt, std::int64_t count, double temperature,
           int top_k, std::int64_t vocab) {
  if (prompt.empty()) throw fail("sample", "expected a prompt of at least 1 token but received 0");
  for (const std::int64_t token : prompt) {
    if (token >= 0 && token < vocab) continue;
    throw fail("sample", "expected tokens from 0 to {} but received {}", vocab - 1, token);
  }
  if (count < 0) throw fail("sample", "expected count >= 0 but received {}", count);
  if (!(temperature >= 0 && std::isfinite(temperature))) {
    throw fail("sample", "expected a finite temperature >= 0 but received {}", temperature);
  }
  if (top_k < 0) throw fail("sample", "expected top_k >= 0 but received {}", top_k);
}

std::int64_t draw(const torch::Tensor& logits, double temperature, std::int64_t top_k,
                  const at::Generator& generator) {
  const auto [values, ids] = logits.topk(top_k);
  // Against the largest, so that a tiny temperature gives 0 and -inf rather than inf.
  const torch::Tensor scaled = (values - values[0]) / temperature;
  const torch::Tensor chosen = torch::multinomial(scaled.softmax(0), 1, false, generator);
  return ids[chosen.item<std::int64_t>()].item<std::int64_t>();
}

}  // namespace

std::vector<std::int64_t> sample(Gpt& model, const std::vector<std::int64_t>& prompt,
                                 std::int64_t count, double temperature, int top_k,
                                 std::uint64_t seed) {
  const ModelOptions& options = model.options();
  check(prompt, count, temperature, top_k, options.vocab_size);
  const torch::NoGradGuard no_grad;
  const EvalMode eval(model);
  const at::Generator generator = at::detail::createCPUGenerator(seed);
  const std::int64_t candidates =
      temperature == 0 ? 1
                       : std::clamp(top_k == 0 ? options.vocab_size : top_k, 1, options.vocab_size);

  std::vector<std::int64_t> tokens = prompt;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto length = std::min<std::ptrdiff_t>(options.context, std::ssize(tokens));
    const torch::Tensor window =
        torch::tensor(std::vector<std::int64_t>(tokens.end() - length, tokens.end()), torch::kLong);
    const torch::Tensor logits = model.next(window.unsqueeze(0)).squeeze(0).to(torch::kDouble);
    if (!logits.isfinite().all().item<bool>()) {
      throw fail(ErrorCode::non_finite, "sample",
                 "expected finite logits but received NaN or infinity at token {}: the model has "
                 "diverged",
                 i);
    }
    tokens.push_back(candidates == 1 ? logits.argmax().item<std::int64_t>()
                                     : draw(logits, temperature, candidates, generator));
  }
  return {tokens.begin() + std::ssize(prompt), tokens.end()};
}

}  // namespace bcos::lab::models
