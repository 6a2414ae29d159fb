#include "app/flag_values.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "backplane/types/names.hpp"
#include "filters/go_duration.hpp"

namespace backplane {
namespace {

constexpr int kMaxPort = 65535;

constexpr std::array<std::string_view, 6> kTrue{"1", "t", "T", "true", "TRUE", "True"};
constexpr std::array<std::string_view, 6> kFalse{"0", "f", "F", "false", "FALSE", "False"};

bool one_of(const std::array<std::string_view, 6>& words, std::string_view value) {
  for (const auto word : words) {
    if (word == value) return true;
  }
  return false;
}

std::string not_int(std::string_view value) {
  int parsed = 0;
  std::string_view digits = value;
  if (!digits.empty() && digits.front() == '+') digits.remove_prefix(1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), parsed);
  if (error == std::errc::result_out_of_range) return "must fit into 32 bits";
  return error != std::errc() || end != digits.data() + digits.size() ? "must be an integer" : "";
}

std::string not_ints(std::string_view value) {
  for (const auto& item : split_list(value)) {
    if (auto problem = not_int(item); !problem.empty()) return problem;
  }
  return {};
}

std::string not_float(std::string_view value) {
  double parsed = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), parsed);
  if (error == std::errc() && end == value.data() + value.size()) return {};
  return "must be a number";
}

std::string not_bool(std::string_view value) { return one_of(kTrue, value) || one_of(kFalse, value) ? "" : "must be true or false"; }

std::string not_ip(std::string_view value) {
  if (value.empty()) return {};
  std::array<unsigned char, 16> bytes{};
  const std::string text(value);
  if (inet_pton(AF_INET, text.c_str(), bytes.data()) == 1 || inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) return {};
  return "must be an IP address";
}

std::string not_duration(std::string_view value) {
  return parse_go_duration(value).ok() ? "" : "must be a duration with units, such as 30s, 5m or 1h30m";
}

std::string not_map(std::string_view value) {
  for (const auto& item : split_list(value)) {
    // A key alone means key=true (runtime-config).
    if (item.empty() || item.front() == '=') return "must be key=value pairs, separated by commas";
  }
  return {};
}

// k8s.io/apimachinery/pkg/util/net.PortRange: one port, "first-last" or "first+more".
std::string not_port_range(std::string_view value) {
  const auto sign = value.find_first_of("-+");
  const std::string_view first = value.substr(0, sign);
  const std::string_view second = sign == std::string_view::npos ? std::string_view("0") : value.substr(sign + 1);
  if (value.empty() || !not_int(first).empty() || !not_int(second).empty()) return "must be PORT, FIRST-LAST or FIRST+COUNT";
  const int low = std::atoi(std::string(first).c_str());
  const int number = std::atoi(std::string(second).c_str());
  const int high = sign != std::string_view::npos && value[sign] == '-' ? number : low + number;
  if (low > kMaxPort || high > kMaxPort) return "must end at 65535 at the latest";
  if (high < low) return "must not end before it begins";
  return {};
}

std::string not_version(std::string_view value) {
  if (value == "raw" || value.starts_with("v") || not_bool(value).empty()) return {};
  return "must be true, false, raw or vX.Y.Z";
}

std::string not_pairs(std::string_view value) {
  for (const auto& item : split_pairs(value)) {
    if (item.find('=') == std::string::npos) return backplane::quoted(item) + " must have the form key=value";
  }
  return {};
}

std::string not_quantity(std::string_view value) {
  if (canonical_quantity(value)) return {};
  return "must be a quantity, such as 512Ki or 1M";
}

// klog's --vmodule: pattern=N, separated by commas.
std::string not_patterns(std::string_view value) {
  for (const auto& item : split_list(value)) {
    const auto equals = item.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == item.size())
      return backplane::quoted(item) + " must have the form pattern=N";
    if (auto problem = not_int(std::string_view(item).substr(equals + 1)); !problem.empty() || item[equals + 1] == '-') {
      return "the verbosity in " + backplane::quoted(item) + " " + (problem.empty() ? "must not be negative" : problem);
    }
  }
  return {};
}

std::string anything(std::string_view) { return {}; }

struct TypeRow {
  FlagType type;
  std::string_view word;
  bool list;
  std::string (*problem)(std::string_view value);
};
constexpr std::array<TypeRow, 16> kTypes{{{FlagType::kBool, "", false, not_bool},
                                          {FlagType::kString, "string", false, anything},
                                          {FlagType::kIp, "ip", false, not_ip},
                                          {FlagType::kInt, "int", false, not_int},
                                          {FlagType::kFloat, "float", false, not_float},
                                          {FlagType::kDuration, "duration", false, not_duration},
                                          {FlagType::kStrings, "strings", true, anything},
                                          {FlagType::kStringArray, "stringArray", true, anything},
                                          {FlagType::kMap, "mapStringString", true, not_map},
                                          {FlagType::kPairs, "stringToString", true, not_pairs},
                                          {FlagType::kPatterns, "pattern=N,...", true, not_patterns},
                                          {FlagType::kInts, "int32Slice", true, not_ints},
                                          {FlagType::kPortRange, "portRange", false, not_port_range},
                                          {FlagType::kQuantity, "quantity", false, not_quantity},
                                          {FlagType::kLevel, "Level", false, not_int},
                                          {FlagType::kVersion, "version[=true]", false, not_version}}};

const TypeRow& row(FlagType type) noexcept { return kTypes[static_cast<std::size_t>(type)]; }

}  // namespace

std::string_view flag_type_word(FlagType type) noexcept { return row(type).word; }
bool is_list(FlagType type) noexcept { return row(type).list; }
std::string flag_value_problem(FlagType type, std::string_view value) { return row(type).problem(value); }
bool to_bool(std::string_view value) noexcept { return one_of(kTrue, value); }

// One item of a CSV list: "a,b" in quotes is one item, and "" in it is one quote.
std::string take_quoted(std::string_view& value) {
  std::string item;
  value.remove_prefix(1);
  while (!value.empty()) {
    const char c = value.front();
    value.remove_prefix(1);
    if (c == '"' && !value.starts_with('"')) break;
    if (c == '"') value.remove_prefix(1);
    item.push_back(c);
  }
  return item;
}

std::vector<std::string> split_list(std::string_view value) {
  std::vector<std::string> items;
  while (!value.empty()) {
    std::string item = value.front() == '"' ? take_quoted(value) : std::string();
    const auto comma = value.find(',');
    item.append(value.substr(0, comma));
    items.push_back(std::move(item));
    if (comma == std::string_view::npos) break;
    value.remove_prefix(comma + 1);
  }
  return items;
}

std::vector<std::string> split_pairs(std::string_view value) {
  if (std::count(value.begin(), value.end(), '=') > 1) return split_list(value);
  while (value.starts_with('"')) value.remove_prefix(1);
  while (value.ends_with('"')) value.remove_suffix(1);
  return {std::string(value)};
}

}  // namespace backplane
