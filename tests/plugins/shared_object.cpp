#include "shared_object.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace backplane {

SharedObject::SharedObject(const std::string& actor) {
  std::ifstream file(std::string(ACTORS_DIR) + "/" + actor + ".so", std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  bytes = text.str();
  EXPECT_GT(bytes.size(), 4096u) << actor;
}

std::size_t SharedObject::note_offset() const {
  const std::string mark("Backplane\0\0\0BPPLUGIN", 20);
  const auto at = bytes.find(mark);
  EXPECT_NE(at, std::string::npos);
  return at - 12;
}

SharedObject& SharedObject::head(const std::function<void(bp_note_head&)>& change) {
  bp_note_head head;
  const auto at = note_offset() + 24;
  std::memcpy(&head, bytes.data() + at, sizeof(head));
  change(head);
  return poke(at, head);
}

SharedObject& SharedObject::manifest(const std::string& json) {
  const auto at = note_offset() + 24 + sizeof(bp_note_head);
  std::size_t room = 0;
  head([&](bp_note_head& head) {
    room = head.json_size;
    head.json_size = static_cast<std::uint32_t>(json.size());
  });
  EXPECT_LE(json.size(), room);
  bytes.replace(at, room, json + std::string(room - json.size(), '\0'));
  return *this;
}

SharedObject& SharedObject::replace(const std::string& from, const std::string& to) {
  EXPECT_EQ(from.size(), to.size());
  EXPECT_NE(bytes.find(from), std::string::npos) << from;
  for (std::size_t at = 0; (at = bytes.find(from, at)) != std::string::npos; at += to.size()) bytes.replace(at, to.size(), to);
  return *this;
}

void SharedObject::write(const std::string& path) const {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string manifest_of(const std::string& name, const std::string& more, const std::string& version) {
  return R"({"name":")" + name + R"(","version":")" + version + "\"" + (more.empty() ? "" : "," + more) + "}";
}

TemporaryDirectory::TemporaryDirectory() {
  std::string path = (std::filesystem::temp_directory_path() / "backplane-plugins-XXXXXX").string();
  path_ = ::mkdtemp(path.data());
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::optional<std::string> TestServices::flag(std::string_view name) const {
  if (name.starts_with("told/")) calls.emplace_back(name.substr(5));
  return std::nullopt;
}

std::string TestServices::configuration(std::string_view plugin) const {
  const auto found = configurations.find(std::string(plugin));
  return found == configurations.end() ? std::string() : found->second;
}

Result<PluginSet> TestServices::load(PluginOptions options) {
  auto opened = PluginRegistry::open(std::move(options));
  if (!opened.ok()) return std::move(opened.status());
  Status started = (*opened)->start(services_);
  if (!started.ok()) return started;
  PluginSet set;
  set.registry = std::move(*opened);
  const auto rows = set.registry->rows();
  set.delegates = rows->delegates;
  set.scheme = rows->scheme;
  set.report = set.registry->report();
  set.general = set.registry->general();
  return set;
}

const PluginReport& report_of(const PluginSet& set, const std::string& name) {
  for (const auto& row : set.report) {
    if (row.name == name) return row;
  }
  ADD_FAILURE() << "no report of " << name;
  static const PluginReport kNone;
  return kNone;
}

std::vector<std::string> names_of(const std::vector<TargetRef>& delegates) {
  std::vector<std::string> names;
  for (const auto& delegate : delegates) names.push_back(delegate->name);
  return names;
}

}  // namespace backplane
