#include "app/reencrypt_progress.hpp"

#include <cstdio>
#include <fstream>
#include <sstream>

#include "backplane/core/json_access.hpp"
#include "backplane/types/schema.hpp"

namespace backplane {

ReencryptProgress ReencryptProgress::load(std::string file, std::string_view server, std::string_view configuration) {
  ReencryptProgress out;
  out.file_ = std::move(file);
  out.server_ = server;
  out.configuration_ = configuration;
  std::ostringstream text;
  if (!out.file_.empty()) text << std::ifstream(out.file_).rdbuf();
  auto tree = parse_json(text.str(), {}, nullptr);
  if (!tree.ok() || !tree->is_object()) return out;
  const Object& saved = tree->get_object();
  if (get_string(saved, "server") != server || get_string(saved, "configuration") != configuration) return out;
  if (const Array* done = get_array(saved, "done")) {
    for (const Value& each : *done) out.done_.emplace(text_of(each));
  }
  out.resource_ = get_string(saved, "resource");
  out.token_ = get_string(saved, "continue");
  out.resumed_ = true;
  return out;
}

std::string ReencryptProgress::begin(const std::string& resource) {
  if (resource_ != resource) token_.clear();
  resource_ = resource;
  save();
  return token_;
}

void ReencryptProgress::advance(std::string token) {
  token_ = std::move(token);
  save();
}

void ReencryptProgress::finish() {
  done_.insert(resource_);
  resource_.clear();
  token_.clear();
  save();
}

void ReencryptProgress::remove() {
  if (!file_.empty()) std::remove(file_.c_str());
}

// The file is replaced atomically: an interrupted run leaves the former progress.
void ReencryptProgress::save() const {
  if (file_.empty()) return;
  Array done;
  for (const std::string& each : done_) done.emplace_back(each);
  const Object saved{
      {"server", server_}, {"configuration", configuration_}, {"done", std::move(done)}, {"resource", resource_}, {"continue", token_}};
  const std::string next = file_ + ".next";
  if (!(std::ofstream(next) << json::serialize(saved) << std::endl)) return;
  (void)std::rename(next.c_str(), file_.c_str());
}

}  // namespace backplane
