#include "lab/run/events.hpp"

namespace bcos::lab::run {

nlohmann::ordered_json to_json(const RunFacts& facts) {
  nlohmann::ordered_json json;
  json["name"] = facts.name;
  json["method"] = facts.method;
  json["lr"] = facts.lr;
  json["seed"] = facts.seed;
  json["model"] = facts.model;
  json["data"] = facts.data;
  json["parameters"] = facts.parameters;
  json["tensors"] = facts.tensors;
  json["decayed_tensors"] = facts.decayed_tensors;
  json["state_bytes"] = facts.state_bytes;
  json["adamw_state_bytes"] = facts.adamw_state_bytes;
  json["unit"] = facts.unit;
  json[facts.unit + "s_per_step"] = facts.units_a_step;
  json["accumulation"] = facts.accumulation;
  json["steps"] = facts.steps;
  json["device"] = facts.device;
  json["threads"] = facts.threads;
  json["target"] = facts.target;
  json["data_files"] = facts.data_files;
  json["arithmetic"] = facts.arithmetic;
  return json;
}

}  // namespace bcos::lab::run
