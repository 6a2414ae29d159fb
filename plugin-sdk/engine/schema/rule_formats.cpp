// The text formats of rules.
#include <algorithm>
#include <charconv>

#include "backplane/core/json_access.hpp"
#include "backplane/types/ip_addresses.hpp"
#include "backplane/types/resource_names.hpp"
#include "schema/rule_words.hpp"

namespace backplane::schema {
namespace {

Problems is_absolute_path(std::string_view text) { return text.starts_with('/') ? Problems() : Problems{"must be an absolute path"}; }

Problems is_finalizer(std::string_view text) {
  Problems out = is_qualified_name(text);
  if (text.find('/') == std::string_view::npos && text != "kubernetes" && text != "orphan" && text != "foregroundDeletion") {
    out.emplace_back("name is neither a standard finalizer name nor is it fully qualified");
  }
  return out;
}

Problems has_no_slash(std::string_view text) {
  return text.find('/') == std::string_view::npos ? Problems() : Problems{"must not contain '/'"};
}

Problems is_unpadded(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  const bool padded = !text.empty() && (blank(text.front()) || blank(text.back()));
  return padded ? Problems{"must not be padded with whitespace"} : Problems();
}

// Upstream's declared formats count bytes; its older checks count characters.
Problems in_bytes(Problems problems) {
  constexpr std::string_view kCharacters = " characters";
  for (std::string& problem : problems) {
    if (problem.find("must be no more than ") != std::string::npos && problem.ends_with(kCharacters)) {
      problem.replace(problem.size() - kCharacters.size(), kCharacters.size(), " bytes");
    }
  }
  return problems;
}
Problems is_subdomain_in_bytes(std::string_view text) { return in_bytes(is_dns1123_subdomain(text)); }
Problems is_label_in_bytes(std::string_view text) { return in_bytes(is_dns1123_label(text)); }
Problems is_qualified_name_in_bytes(std::string_view text) { return in_bytes(is_qualified_name(text)); }

Problems is_caseless_subdomain(std::string_view text) {
  Problems out = is_subdomain_in_bytes(lower_case(text));
  for (std::string& problem : out) {
    if (!problem.starts_with("a lowercase RFC 1123 subdomain")) continue;
    problem =
        "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character "
        "(e.g. 'Example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
  }
  return out;
}

// A path inside a volume: relative and without "..".
Problems is_local_path(std::string_view text) {
  Problems out;
  if (text.starts_with('/')) out.emplace_back("must be a relative path");
  for (std::string_view rest = text;;) {
    const auto slash = rest.find('/');
    if (rest.substr(0, slash) == "..") {
      out.emplace_back("must not contain '..'");
      return out;
    }
    if (slash == std::string_view::npos) return out;
    rest.remove_prefix(slash + 1);
  }
}

// Names that begin with two dots are reserved for the writer of the volume (kubelet).
Problems is_volume_path(std::string_view text) {
  Problems out = is_local_path(text);
  if (text.starts_with("..") && !text.starts_with("../")) out.emplace_back("must not start with '..'");
  return out;
}

Problems has_no_backsteps(std::string_view text) {
  return ("/" + std::string(text) + "/").find("/../") == std::string::npos ? Problems() : Problems{"must not contain '..'"};
}

Problems is_http_header_name(std::string_view text) {
  const auto allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-'; };
  if (!text.empty() && std::all_of(text.begin(), text.end(), allowed)) return {};
  return {
      "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is "
      "'[-A-Za-z0-9]+')"};
}

// An apiVersion with a group.
Problems is_group_version(std::string_view text) {
  const auto slashes = std::count(text.begin(), text.end(), '/');
  if (slashes > 1) return {"unexpected GroupVersion string: " + std::string(text)};
  return slashes == 1 && text.front() != '/' ? Problems() : Problems{"apiVersion must specify API group"};
}

// Drivers' names are checked in lower case.
Problems is_driver_name(std::string_view text) { return is_dns1123_subdomain(lower_case(text)); }

void add_part(std::string_view part, const Problems& found, Problems& out) {
  for (const std::string& problem : found) out.push_back(std::string(part) + problem);
}

// An apiVersion with a group or without.
Problems is_api_version(std::string_view text) {
  if (std::count(text.begin(), text.end(), '/') > 1) {
    return {
        "an apiVersion is a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an alphabetic "
        "character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
        "'[a-z]([-a-z0-9]*[a-z0-9])?') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')"};
  }
  const auto slash = text.find('/');
  const std::string_view version = slash == std::string_view::npos ? text : text.substr(slash + 1);
  Problems out;
  if (slash == 0) out.emplace_back("group part: must be non-empty");
  if (slash != 0 && slash != std::string_view::npos) add_part("group part: ", is_dns1123_subdomain(text.substr(0, slash)), out);
  if (version.empty()) {
    out.emplace_back("version part: must be non-empty");
  } else {
    add_part("version part: ", is_dns1035_label(version), out);
  }
  return out;
}

// The reason of a condition: one word.
Problems is_condition_reason(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto plain = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  const auto inner = [&](char c) { return plain(c) || c == ',' || c == ':'; };
  if (!text.empty() && letter(text.front()) && plain(text.back()) && std::all_of(text.begin(), text.end(), inner)) return {};
  return {
      "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and "
      "must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or "
      "'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')"};
}

// An address that other hosts can reach.
Problems special_ip_problems(std::string_view text) {
  const auto address = parse_ip(text);
  if (!address) return {"must be a valid IP address"};
  const auto& bytes = address->bytes;
  const bool four = !address->six || address->mapped();
  const auto zeros = [&](std::size_t from, std::size_t to) { return std::all_of(&bytes[from], &bytes[to], [](auto b) { return b == 0; }); };
  Problems out;
  if (zeros(four ? 12 : 0, 16)) out.push_back("may not be unspecified (" + std::string(text) + ")");
  const bool loopback = four ? bytes[12] == 127 : zeros(0, 15) && bytes[15] == 1;
  if (loopback) out.emplace_back("may not be in the loopback range (127.0.0.0/8, ::1/128)");
  const bool link_local = four ? bytes[12] == 169 && bytes[13] == 254 : bytes[0] == 0xFE && (bytes[1] & 0xC0) == 0x80;
  if (link_local) out.emplace_back("may not be in the link-local range (169.254.0.0/16, fe80::/10)");
  const bool multicast = four ? bytes[12] == 224 && zeros(13, 15) : bytes[0] == 0xFF && (bytes[1] & 0x0F) == 2;
  if (multicast) out.emplace_back("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
  return out;
}

Problems external_ip_problems(std::string_view text) {
  Problems out = legacy_ip_problems(text);
  return out.empty() ? special_ip_problems(text) : out;
}

// A text that is not an address has two errors.
Problems endpoint_ip_problems(std::string_view text) {
  Problems out = legacy_ip_problems(text);
  for (std::string& problem : special_ip_problems(text)) out.push_back(std::move(problem));
  return out;
}

// Newer fields accept the canonical text only.
Problems strict_ip_problems(std::string_view text) {
  Problems out = legacy_ip_problems(text);
  if (!out.empty()) return out;
  const std::string canonical = print_ip(*parse_ip(text));
  return text == canonical ? Problems() : Problems{"must be in canonical form (" + quoted(canonical) + ")"};
}

Problems is_no_ip(std::string_view text) { return parse_ip(text) ? Problems{"must be a DNS name, not an IP address"} : Problems(); }

// A DNS name, or all names below one: "*.example.com".
Problems is_dns_pattern(std::string_view text) {
  if (text.find('*') == std::string_view::npos) return is_dns1123_subdomain(text);
  constexpr std::size_t kLongest = 253;
  Problems out;
  if (text.size() > kLongest) out.push_back("must be no more than " + std::to_string(kLongest) + " characters");
  // Only the length of the whole text is limited, not that of labels.
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  bool good = text.starts_with("*.");
  for (std::string_view rest = good ? text.substr(2) : std::string_view(); good;) {
    const std::string_view label = rest.substr(0, rest.find('.'));
    good = !label.empty() && letter(label.front()) && letter(label.back()) &&
           std::all_of(label.begin(), label.end(), [&](char c) { return letter(c) || c == '-'; });
    if (label.size() == rest.size()) break;
    rest.remove_prefix(label.size() + 1);
  }
  if (!good) {
    out.emplace_back(
        "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case "
        "alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is "
        "'\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
  }
  return out;
}

// An absolute path without empty, "." and ".." elements and without escaped slashes.
Problems is_plain_path(std::string_view text) {
  Problems out = is_absolute_path(text);
  for (const char* part : {"//", "/./", "/../", "%2f", "%2F"}) {
    if (text.find(part) != std::string_view::npos) out.push_back("must not contain '" + std::string(part) + "'");
  }
  for (const char* end : {"/..", "/."}) {
    if (text.ends_with(end)) out.push_back("cannot end with '" + std::string(end) + "'");
  }
  return out;
}

// A CIDR that blanks may surround.
Problems padded_cidr_problems(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return legacy_cidr_problems(text);
}

// An address of an interface, with the length of its network's prefix.
Problems interface_address_problems(std::string_view text) {
  const Problems found = legacy_cidr_problems(text);
  if (!found.empty() && found.front().starts_with("must be a valid CIDR value")) {
    return {"must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"};
  }
  const auto slash = text.find('/');
  const auto address = parse_ip(text.substr(0, slash));
  int length = 0;
  std::from_chars(text.data() + slash + 1, text.data() + text.size(), length);
  if (address->mapped() && length > 32) length -= 96;
  const std::string canonical = print_ip(*address) + "/" + std::to_string(length);
  return text == canonical ? Problems() : Problems{"must be in canonical form (" + quoted(canonical) + ")"};
}

struct FormatRow {
  std::string_view word;
  FormatCheck check;
};
constexpr FormatRow kFormats[] = {
    {"dns1123Label", is_dns1123_label},
    {"dns1123Subdomain", is_dns1123_subdomain},
    {"dns1123SubdomainBytes", is_subdomain_in_bytes},
    {"dns1123SubdomainCaseless", is_caseless_subdomain},
    {"dns1123LabelBytes", is_label_in_bytes},
    {"qualifiedNameBytes", is_qualified_name_in_bytes},
    {"dns1035Label", is_dns1035_label},
    {"qualifiedName", is_qualified_name},
    {"labelValue", is_valid_label_value},
    {"pathSegment", is_path_segment_name},
    {"configMapKey", is_config_map_key},
    {"envVarName", is_env_var_name},
    {"portName", is_valid_port_name},
    {"ip", strict_ip_problems},
    {"notIp", is_no_ip},
    {"dnsPattern", is_dns_pattern},
    {"plainPath", is_plain_path},
    {"legacyIp", legacy_ip_problems},
    {"legacyCidr", legacy_cidr_problems},
    {"absolutePath", is_absolute_path},
    {"relativePath", is_local_path},
    {"volumePath", is_volume_path},
    {"noBacksteps", has_no_backsteps},
    {"noSlash", has_no_slash},
    {"unpadded", is_unpadded},
    {"driverName", is_driver_name},
    {"conditionReason", is_condition_reason},
    {"httpHeaderName", is_http_header_name},
    {"finalizer", is_finalizer},
    {"groupVersion", is_group_version},
    {"apiVersion", is_api_version},
    {"resourceName", resource_name_problems},
    {"containerResourceName", container_resource_name_problems},
    {"quotaResourceName", quota_resource_name_problems},
    {"externalIp", external_ip_problems},
    {"endpointIp", endpoint_ip_problems},
    {"paddedCidr", padded_cidr_problems},
    {"interfaceAddress", interface_address_problems},
};

}  // namespace

FormatCheck format_named(std::string_view word) noexcept {
  const auto* row = std::find_if(std::begin(kFormats), std::end(kFormats), [&](const FormatRow& each) { return each.word == word; });
  return row != std::end(kFormats) ? row->check : nullptr;
}

}  // namespace backplane::schema
