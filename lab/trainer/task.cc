#include "lab/trainer/task.hpp"

#include <filesystem>

namespace bcos::lab {

std::unique_ptr<Task> make_task(const Settings& settings) {
  return settings.model == "gpt" ? make_token_task(settings) : make_image_task(settings);
}

nlohmann::ordered_json file_facts(const std::vector<FileFact>& files) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const FileFact& file : files) {
    const std::string name = std::filesystem::path(file.path).filename().string();
    list.push_back({{"name", name}, {"bytes", file.bytes}, {"crc32c", file.crc32c}});
  }
  return list;
}

ModelOptions model_options_of(const Settings& s) {
  ModelOptions options;
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

}  // namespace bcos::lab
