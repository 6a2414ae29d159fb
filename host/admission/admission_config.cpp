#include "admission/admission_config.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "backplane/types/schema.hpp"

namespace backplane {
namespace {

Status refused(const std::string& path, const std::string& why) {
  return bad_request("unable to read admission control configuration from " + backplane::quoted(path) + ": " + why);
}

Result<std::string> read_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return bad_request("cannot open " + path + ": no such file or directory");
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return bad_request("read " + path + ": the file cannot be read");
  return text.str();
}

std::string unknown_field(const Object& object, std::initializer_list<std::string_view> known) {
  for (const auto& [key, _] : object) {
    if (std::find(known.begin(), known.end(), std::string_view(key)) == known.end()) return std::string(key);
  }
  return {};
}

bool is_configuration(const Object& root) {
  const auto version = get_string(root, "apiVersion");
  const bool known = version == "apiserver.config.k8s.io/v1" || version == "apiserver.k8s.io/v1alpha1";
  return known && get_string(root, "kind") == "AdmissionConfiguration";
}

Result<Value> parse(const std::string& text) { return parse_yaml(text, {}, nullptr); }

// Returns the configuration of a plugin: the member `configuration`, or the contents of the file that `path` names.
Result<AdmissionPluginConfig> plugin_config(const Object& row, const std::string& path) {
  AdmissionPluginConfig config;
  const Value* inline_value = find(row, "configuration");
  if (inline_value != nullptr && !inline_value->is_null()) {
    if (!inline_value->is_object()) return bad_request("configuration must be an object");
    config.configuration = to_json(*inline_value);
    return config;
  }
  const auto file = get_string(row, "path");
  if (file.empty()) return config;
  auto text = read_file((std::filesystem::absolute(path).parent_path() / file).string());
  if (!text.ok()) return std::move(text.status());
  auto tree = parse(*text);
  if (!tree.ok()) return bad_request(std::string(file) + ": " + tree.status().message());
  if (!tree->is_object()) return bad_request(std::string(file) + " must hold an object");
  config.configuration = to_json(*tree);
  return config;
}

Result<ConfiguredAdmissionPlugin> plugin_row(const Value& value, const std::string& path) {
  if (!value.is_object()) return bad_request("each of plugins must be an object");
  const Object& row = value.get_object();
  if (auto field = unknown_field(row, {"name", "path", "configuration"}); !field.empty()) {
    return bad_request("unknown field \"plugins[]." + field + "\"");
  }
  ConfiguredAdmissionPlugin plugin;
  plugin.name = get_string(row, "name");
  if (plugin.name.empty()) return bad_request("each of plugins must have a name");
  auto config = plugin_config(row, path);
  if (!config.ok()) return bad_request("plugin " + backplane::quoted(plugin.name) + ": " + config.status().message());
  plugin.config = std::move(*config);
  return plugin;
}

}  // namespace

Result<AdmissionConfiguration> parse_admission_configuration(std::string_view text, const std::string& path) {
  auto tree = parse(std::string(text));
  if (!tree.ok()) return refused(path, tree.status().message());
  if (!tree->is_object() || !is_configuration(tree->get_object())) {
    return refused(path, "it is not an AdmissionConfiguration of apiserver.config.k8s.io/v1");
  }
  const Object& root = tree->get_object();
  if (auto field = unknown_field(root, {"apiVersion", "kind", "plugins"}); !field.empty()) {
    return refused(path, "unknown field " + backplane::quoted(field));
  }
  AdmissionConfiguration configuration;
  const Array* rows = get_array(root, "plugins");
  if (rows == nullptr) return configuration;
  for (const Value& value : *rows) {
    auto row = plugin_row(value, path);
    if (!row.ok()) return refused(path, row.status().message());
    const bool twice = std::any_of(configuration.begin(), configuration.end(), [&](const auto& each) { return each.name == row->name; });
    if (twice) return refused(path, "plugin " + backplane::quoted(row->name) + " occurs twice");
    configuration.push_back(std::move(*row));
  }
  return configuration;
}

Result<AdmissionConfiguration> read_admission_configuration(const std::string& path) {
  auto text = read_file(path);
  if (!text.ok()) return refused(path, text.status().message());
  return parse_admission_configuration(*text, path);
}

}  // namespace backplane
