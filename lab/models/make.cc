#include "lab/models/make.hpp"

#include "lab/models/gpt.hpp"
#include "lab/models/mlp.hpp"
#include "lab/models/resnet.hpp"
#include "lab/models/vit.hpp"

namespace bcos::lab::models {

std::shared_ptr<Model> make_model(const ModelOptions& options) {
  validate(options);
  if (options.kind == "resnet") return std::make_shared<ResNet>(options);
  if (options.kind == "vit") return std::make_shared<Vit>(options);
  if (options.kind == "mlp") return std::make_shared<Mlp>(options);
  return std::make_shared<Gpt>(options);
}

}  // namespace bcos::lab::models
