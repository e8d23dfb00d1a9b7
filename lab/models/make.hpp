#pragma once

#include <memory>

#include "lab/models/options.hpp"

namespace bcos::lab::models {

class Model;

/// A new model, in training mode. Its weights come from torch's generator: call
/// torch::manual_seed before. Throws Error as validate() does.
std::shared_ptr<Model> make_model(const ModelOptions& options);

}  // namespace bcos::lab::models
