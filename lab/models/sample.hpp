#pragma once

#include <cstdint>
#include <vector>

namespace bcos::lab::models {

class Gpt;

/// `count` tokens that continue the prompt, each drawn from the top_k likeliest (0: all) at the
/// temperature (0: always the likeliest). The model sees the last `context` tokens, in eval mode.
/// The same seed draws the same tokens; torch's own generator is not touched. Throws Error on an
/// empty prompt, on tokens outside the vocabulary, and (non_finite) if the model gives NaN.
std::vector<std::int64_t> sample(Gpt& model, const std::vector<std::int64_t>& prompt,
                                 std::int64_t count, double temperature, int top_k,
                                 std::uint64_t seed);

}  // namespace bcos::lab::models
