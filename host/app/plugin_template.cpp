#include "app/plugin_template.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>
#include <vector>

#include "backplane/types/names.hpp"
#include "plugin_cmake_txt.hpp"
#include "plugin_example_txt.hpp"
#include "plugin_group_json.hpp"
#include "plugin_manifest_json.hpp"
#include "plugin_source_txt.hpp"
#include "plugin_types_json.hpp"
#include "stable_c_txt.hpp"
#include "stable_cmake_txt.hpp"
#include "stable_cpp_txt.hpp"
#include "stable_manifest_json.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;
using Words = std::map<std::string, std::string>;

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string filled_in(std::string_view text, const Words& words) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto begin = text.find('@', at);
    const auto end = begin == std::string_view::npos ? begin : text.find('@', begin + 1);
    const auto word = end == std::string_view::npos ? words.end() : words.find(std::string(text.substr(begin + 1, end - begin - 1)));
    if (word == words.end()) {
      const auto until = begin == std::string_view::npos ? text.size() : begin + 1;
      out += text.substr(at, until - at);
      at = until;
      continue;
    }
    out.append(text.substr(at, begin - at)).append(word->second);
    at = end + 1;
  }
  return out;
}

std::string resource_of(const NewPlugin& plugin) { return plugin.resource.empty() ? plural_of(plugin.kind) : plugin.resource; }

bool in_c(const NewPlugin& plugin) { return plugin.tier == "stable" && plugin.language != "c++"; }

Status check_tier(const NewPlugin& plugin) {
  if (plugin.tier != "native" && plugin.tier != "stable") return bad_request("--tier: must be native or stable");
  if (!plugin.language.empty() && plugin.language != "c" && plugin.language != "c++")
    return bad_request("--language: must be c or c++; docs/examples/stable-rust is a plugin in Rust");
  if (plugin.tier == "native" && plugin.language == "c")
    return bad_request("--language: a plugin of the native tier is in C++; --tier=stable makes one in C");
  return {};
}

Words words_of(const NewPlugin& plugin) {
  const std::string resource = resource_of(plugin);
  std::string identifier = resource;
  std::replace(identifier.begin(), identifier.end(), '-', '_');
  return {{"NAME", plugin.name},
          {"PLUGIN", plugin.group.substr(plugin.group.find('.') + 1) + "/" + plugin.name},
          {"GROUP", plugin.group},
          {"KIND", plugin.kind},
          {"RESOURCE", resource},
          {"LANGUAGE", in_c(plugin) ? "C" : "CXX"},
          {"SOURCE", in_c(plugin) ? "plugin.c" : "plugin.cpp"},
          {"RESOURCE_ID", identifier},
          {"PACKAGE", reversed_domain(plugin.group)}};
}

}  // namespace

Status check_names(const NewPlugin& plugin) {
  static const std::regex kName("[a-z0-9]([-a-z0-9]*[a-z0-9])?"), kKind("[A-Z][A-Za-z0-9]*");
  if (!std::regex_match(plugin.name, kName)) return bad_request("name: must be lower-case letters, digits and '-', for example widgets");
  if (!is_dns1123_subdomain(plugin.group).empty() || plugin.group.find('.') == std::string::npos)
    return bad_request("--group: must be a domain, for example widgets.example.com");
  if (!std::regex_match(plugin.kind, kKind))
    return bad_request("--kind: must be letters and digits with an upper-case first letter, for example Widget");
  if (!is_dns1035_label(resource_of(plugin)).empty())
    return bad_request("--plural: must be lower-case letters and digits, for example widgets");
  return {};
}

std::string reversed_domain(const std::string& group) {
  std::vector<std::string> labels;
  for (std::size_t at = 0; at <= group.size();) {
    const auto end = std::min(group.find('.', at), group.size());
    labels.push_back(group.substr(at, end - at));
    at = end + 1;
  }
  std::string out;
  for (auto label = labels.rbegin(); label != labels.rend(); ++label) out += (out.empty() ? "" : ".") + *label;
  return out;
}

std::string manifest_of(const NewPlugin& plugin) { return filled_in(plugin_manifest_json(), words_of(plugin)); }

std::string plural_of(const std::string& kind) {
  std::string out = lower(kind);
  const auto ends = [&](std::string_view with) { return out.ends_with(with); };
  if (ends("s") || ends("x") || ends("z") || ends("ch") || ends("sh")) return out + "es";
  const bool vowel = out.size() > 1 && std::string_view("aeiou").find(out[out.size() - 2]) != std::string_view::npos;
  if (!ends("y") || vowel) return out + "s";
  out.pop_back();
  return out + "ies";
}

Result<std::map<std::string, std::string>> files_of(const NewPlugin& plugin) {
  if (Status status = check_names(plugin); !status.ok()) return status;
  if (Status status = check_tier(plugin); !status.ok()) return status;
  const Words words = words_of(plugin);
  std::map<std::string, std::string_view> templates{
      {"group.json", plugin_group_json()}, {resource_of(plugin) + ".json", plugin_types_json()}, {"example.yaml", plugin_example_txt()}};
  if (plugin.tier == "stable") {
    templates["CMakeLists.txt"] = stable_cmake_txt();
    templates["plugin.json"] = stable_manifest_json();
    templates[words.at("SOURCE")] = in_c(plugin) ? stable_c_txt() : stable_cpp_txt();
  } else {
    templates["CMakeLists.txt"] = plugin_cmake_txt();
    templates["plugin.json"] = plugin_manifest_json();
    templates["plugin.cpp"] = plugin_source_txt();
  }
  std::map<std::string, std::string> files;
  for (const auto& [name, text] : templates) files[name] = filled_in(text, words);
  return files;
}

Status write_plugin(const std::map<std::string, std::string>& files, const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error && !fs::is_empty(folder, error)) return Status(Reason::kAlreadyExists, folder + " has files already");
  if (error) return bad_request(folder + ": " + error.message());
  for (const auto& [name, text] : files) {
    std::ofstream file(fs::path(folder) / name, std::ios::binary);
    if (!(file << text)) return bad_request(folder + "/" + name + " cannot be written");
  }
  return {};
}

}  // namespace backplane
