// For tests: changes the bytes of a built plugin and writes them to a file; makes temporary directories; runs plugins without a server.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "backplane/abi/descriptor.h"
#include "base/io_loop.hpp"
#include "plugin/plugin_registry.hpp"

namespace backplane {

class SharedObject {
 public:
  // "actor" or one of its variants in CMakeLists.txt.
  explicit SharedObject(const std::string& actor = "actor");

  std::string bytes;

  SharedObject& manifest(const std::string& json);  // replaces the JSON of the note
  SharedObject& head(const std::function<void(bp_note_head&)>& change);
  SharedObject& replace(const std::string& from, const std::string& to);  // replaces all occurrences; the lengths must be equal
  template <class T>
  SharedObject& poke(std::size_t offset, T value) {
    bytes.replace(offset, sizeof(T), reinterpret_cast<const char*>(&value), sizeof(T));
    return *this;
  }
  std::size_t note_offset() const;  // the offset of the note's header
  void write(const std::string& path) const;
};

// A manifest: {"name":NAME,"version":VERSION,MORE}
std::string manifest_of(const std::string& name, const std::string& more = {}, const std::string& version = "1.0.0");

class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  const std::string& path() const noexcept { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Running plugins and their registrations.
struct PluginSet {
  std::unique_ptr<PluginRegistry> registry;  // declared first, so destroyed last
  std::vector<TargetRef> delegates;
  std::shared_ptr<const Scheme> scheme;
  std::vector<PluginReport> report;
  Findings general;  // findings that do not concern a single plugin
};

// Runs plugins with a PluginRegistry, and records the reports of actors (tests/plugins/actor.cpp).
class TestServices final : public PluginSettings {
 public:
  Result<PluginSet> load(PluginOptions options);

  std::optional<std::string> flag(std::string_view name) const override;
  std::string configuration(std::string_view plugin) const override;

  std::map<std::string, std::string> configurations;  // plugin → its configuration
  mutable std::vector<std::string> calls;             // "provision/<configuration>"

 private:
  StoreEnvironment stores_;
  ServedApi api_;
  ServerAccess access_;
  HostServices services_{stores_, *this, api_, access_, {{"path /healthz", "the host"}}};
};

const PluginReport& report_of(const PluginSet& set, const std::string& name);
std::vector<std::string> names_of(const std::vector<TargetRef>& delegates);

}  // namespace backplane
