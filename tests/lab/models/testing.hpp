#pragma once

#include <functional>
#include <string>

#include "bcos/error.hpp"
#include "lab/models/options.hpp"

/// What the tests of the models share.
namespace bcos::lab::models {

/// A GPT that computes in no time, with everything GPT-2 has.
inline ModelOptions small_gpt() {
  return {.layers = 2, .width = 16, .heads = 2, .context = 8, .vocab_size = 11};
}

/// The GPT of the demonstration.
inline ModelOptions demo_gpt() {
  return {.layers = 2,
          .width = 64,
          .heads = 2,
          .context = 64,
          .activation = "relu",
          .bias = false,
          .vocab_size = 128};
}

/// What the Error says that the action throws.
inline std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no Error was thrown";
}

}  // namespace bcos::lab::models
