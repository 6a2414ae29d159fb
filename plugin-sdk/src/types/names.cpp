// Rules for single texts: k8s.io/apimachinery/pkg/util/validation.
#include "backplane/types/names.hpp"

#include <algorithm>

#include "backplane/types/ip_text.hpp"

namespace backplane BACKPLANE_API {
namespace {

constexpr std::size_t kMaxLabel = 63;
constexpr std::size_t kMaxSubdomain = 253;
constexpr std::size_t kMaxPortName = 15;

constexpr std::string_view kLabelText =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric "
    "character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kSubdomainText =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kDns1035Text =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an "
    "alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kLabelKeyText =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or "
    "'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view kLabelValueText =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr std::string_view kConfigKeyText =
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex "
    "used for validation is '[-._a-zA-Z0-9]+')";
constexpr std::string_view kEnvVarText = "a valid environment variable name must consist only of printable ASCII characters other than '='";

bool is_lower(char c) noexcept { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_lower_alnum(char c) noexcept { return is_lower(c) || is_digit(c); }
bool is_alnum(char c) noexcept { return is_lower_alnum(c) || (c >= 'A' && c <= 'Z'); }
bool is_key_letter(char c) noexcept { return is_alnum(c) || c == '-' || c == '_' || c == '.'; }

template <class Rule>
bool all(std::string_view text, Rule rule) noexcept {
  return std::all_of(text.begin(), text.end(), rule);
}

// The pattern [a-z0-9]([-a-z0-9]*[a-z0-9])?
bool matches_label(std::string_view text) noexcept {
  return !text.empty() && is_lower_alnum(text.front()) && is_lower_alnum(text.back()) &&
         all(text, [](char c) { return is_lower_alnum(c) || c == '-'; });
}
bool matches_subdomain(std::string_view text) noexcept {
  while (true) {
    const auto dot = text.find('.');
    if (!matches_label(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}
// The pattern ([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]
bool matches_key(std::string_view text) noexcept {
  return !text.empty() && is_alnum(text.front()) && is_alnum(text.back()) && all(text, is_key_letter);
}

std::string max_length(std::size_t count, std::string_view unit) {
  return "must be no more than " + std::to_string(count) + " " + std::string(unit);
}

// For the check of a generateName, which may end in dashes: replaces the last two characters by a letter, as upstream does.
std::string mask_trailing_dash(std::string_view text) {
  if (text.size() > 1 && text.back() == '-') return std::string(text.substr(0, text.size() - 2)) + "a";
  return std::string(text);
}

Problems check_path_segment(std::string_view text, bool prefix) {
  Problems out;
  if (!prefix) {
    if (text == "." || text == "..") return {"may not be '" + std::string(text) + "'"};
  }
  for (char letter : std::string_view("/%")) {
    if (text.find(letter) != std::string_view::npos) out.push_back(std::string("may not contain '") + letter + "'");
  }
  return out;
}

}  // namespace

Problems is_dns1123_label(std::string_view text) {
  Problems out;
  if (text.size() > kMaxLabel) out.push_back(max_length(kMaxLabel, "characters"));
  if (!matches_label(text)) out.emplace_back(matches_subdomain(text) ? std::string_view("must not contain dots") : kLabelText);
  return out;
}

Problems is_dns1123_subdomain(std::string_view text) {
  Problems out;
  if (text.size() > kMaxSubdomain) out.push_back(max_length(kMaxSubdomain, "characters"));
  if (!matches_subdomain(text)) out.emplace_back(kSubdomainText);
  return out;
}

Problems is_dns1035_label(std::string_view text) {
  Problems out;
  if (text.size() > kMaxLabel) out.push_back(max_length(kMaxLabel, "characters"));
  if (!matches_label(text) || !is_lower(text.front())) out.emplace_back(kDns1035Text);
  return out;
}

Problems is_qualified_name(std::string_view text) {
  Problems out;
  const auto slash = text.find('/');
  std::string_view name = text;
  if (slash != std::string_view::npos) {
    if (text.find('/', slash + 1) != std::string_view::npos) {
      return {"a valid label key " + std::string(kLabelKeyText) +
              " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"};
    }
    const std::string_view prefix = text.substr(0, slash);
    name.remove_prefix(slash + 1);
    if (prefix.empty()) {
      out.emplace_back("prefix part must be non-empty");
    } else {
      for (const std::string& problem : is_dns1123_subdomain(prefix)) out.push_back("prefix part " + problem);
    }
  }
  if (name.empty()) {
    out.emplace_back("name part must be non-empty");
  } else if (name.size() > kMaxLabel) {
    out.push_back("name part " + max_length(kMaxLabel, "bytes"));
  }
  if (!matches_key(name)) out.push_back("name part " + std::string(kLabelKeyText));
  return out;
}

Problems is_valid_label_value(std::string_view text) {
  Problems out;
  if (text.size() > kMaxLabel) out.push_back(max_length(kMaxLabel, "bytes"));
  if (!text.empty() && !matches_key(text)) out.emplace_back(kLabelValueText);
  return out;
}

Problems is_path_segment_name(std::string_view text) { return check_path_segment(text, false); }

Problems is_config_map_key(std::string_view text) {
  Problems out;
  if (text.size() > kMaxSubdomain) out.push_back(max_length(kMaxSubdomain, "characters"));
  if (text.empty() || !all(text, is_key_letter)) out.emplace_back(kConfigKeyText);
  if (text == ".") {
    out.emplace_back("must not be '.'");
  } else if (text == "..") {
    out.emplace_back("must not be '..'");
  } else if (text.starts_with("..")) {
    out.emplace_back("must not start with '..'");
  }
  return out;
}

Problems is_env_var_name(std::string_view text) {
  if (text.empty()) return {"environment variable name must be non-empty"};
  if (!all(text, [](char c) { return c >= ' ' && c <= '~' && c != '='; })) return {std::string(kEnvVarText)};
  return {};
}

Problems is_valid_port_num(long long port) {
  if (port >= 1 && port <= 65535) return {};
  return {"must be between 1 and 65535, inclusive"};
}

Problems is_valid_port_name(std::string_view text) {
  Problems out;
  if (text.size() > kMaxPortName) out.push_back(max_length(kMaxPortName, "characters"));
  if (text.empty() || !all(text, [](char c) { return is_lower_alnum(c) || c == '-'; })) {
    out.emplace_back("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (!std::any_of(text.begin(), text.end(), is_lower)) out.emplace_back("must contain at least one letter (a-z)");
  if (text.find("--") != std::string_view::npos) out.emplace_back("must not contain consecutive hyphens");
  if (!text.empty() && (text.front() == '-' || text.back() == '-')) out.emplace_back("must not begin or end with a hyphen");
  return out;
}

Problems is_valid_ip(std::string_view text) {
  unsigned char bytes[16];
  if (read_ipv4(text, bytes) || read_ipv6(text, bytes)) return {};
  return {"must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"};
}

Problems check_name(NameRule rule, std::string_view text, bool prefix) {
  if (rule == NameRule::kPathSegment) return check_path_segment(text, prefix);
  const std::string name = prefix ? mask_trailing_dash(text) : std::string(text);
  switch (rule) {
    case NameRule::kDnsLabel:
      return is_dns1123_label(name);
    case NameRule::kDns1035Label:
      return is_dns1035_label(name);
    default:
      return is_dns1123_subdomain(name);
  }
}

}  // namespace BACKPLANE_API
