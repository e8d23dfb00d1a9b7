#include "lab/loop/task.hpp"

#include <filesystem>

namespace bcos::lab::loop {

std::unique_ptr<Task> make_task(const run::Settings& settings) {
  return settings.model == "gpt" ? make_token_task(settings) : make_image_task(settings);
}

nlohmann::ordered_json file_facts(const std::vector<data::FileFact>& files) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const data::FileFact& file : files) {
    const std::string name = std::filesystem::path(file.path).filename().string();
    list.push_back({{"name", name}, {"bytes", file.bytes}, {"crc32c", file.crc32c}});
  }
  return list;
}

data::Augment augment_of(const run::Settings& s) {
  // Small images are cropped out of a frame of this many black pixels, as is usual for CIFAR.
  constexpr int kCropPadding = 4;
  data::Augment augment;
  if (s.augment) {
    augment.crop_padding = kCropPadding;
    augment.flip = true;
    augment.smallest_crop = s.smallest_crop;
  }
  augment.erase = s.erase;
  augment.mixup = s.mixup;
  augment.cutmix = s.cutmix;
  return augment;
}

models::ModelOptions model_options_of(const run::Settings& s) {
  models::ModelOptions options;
  options.kind = s.model;
  options.layers = static_cast<int>(s.layers);
  options.width = static_cast<int>(s.width);
  options.heads = static_cast<int>(s.heads);
  options.context = static_cast<int>(s.context);
  options.positions = s.positions;
  options.activation = s.activation;
  options.bias = s.bias;
  options.tied = s.tied;
  options.dropout = s.dropout;
  options.depth = static_cast<int>(s.depth);
  options.patch = static_cast<int>(s.patch);
  options.drop_path = s.drop_path;
  options.label_smoothing = s.label_smoothing;
  options.hidden.assign(s.hidden.begin(), s.hidden.end());
  return options;
}

}  // namespace bcos::lab::loop
