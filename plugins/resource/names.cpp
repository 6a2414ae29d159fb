#include "names.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "backplane/types/names.hpp"

namespace backplane::resource {
namespace {

constexpr std::size_t kMaxSubdomain = 253;
constexpr std::size_t kMaxDomain = 63;
constexpr std::size_t kMaxIdentifier = 32;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return out;
}

void check_identifier(std::string_view id, const kit::Path& path, FieldErrors& errors) {
  if (id.size() > kMaxIdentifier) errors.too_long(path, "", kMaxIdentifier);
  const auto plain = [](char c) { return is_letter(c) || is_digit(c) || c == '_'; };
  if (!id.empty() && !is_digit(id.front()) && std::all_of(id.begin(), id.end(), plain)) return;
  errors.invalid(path, id,
                 "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' "
                 "(e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')");
}

void check_domain(std::string_view domain, const kit::Path& path, FieldErrors& errors) {
  if (domain.size() > kMaxDomain) errors.too_long(path, "", kMaxDomain);
  for (const std::string& problem : is_dns1123_subdomain(lower(domain))) errors.invalid(path, domain, problem);
}

struct Suffix {
  std::string_view text;
  int base, power;
};
constexpr std::array<Suffix, 16> kSuffixes = {{{"Ki", 1024, 1},
                                               {"Mi", 1024, 2},
                                               {"Gi", 1024, 3},
                                               {"Ti", 1024, 4},
                                               {"Pi", 1024, 5},
                                               {"Ei", 1024, 6},
                                               {"n", 10, -9},
                                               {"u", 10, -6},
                                               {"m", 10, -3},
                                               {"k", 10, 3},
                                               {"M", 10, 6},
                                               {"G", 10, 9},
                                               {"T", 10, 12},
                                               {"P", 10, 15},
                                               {"E", 10, 18},
                                               {"", 10, 0}}};

}  // namespace

void check_pool_name(std::string_view name, const kit::Path& path, FieldErrors& errors) {
  if (name.empty()) return errors.required(path);
  if (name.size() > kMaxSubdomain) errors.too_long(path, "", kMaxSubdomain);
  for (;;) {
    const std::string_view part = name.substr(0, name.find('/'));
    for (const std::string& problem : is_dns1123_subdomain(part)) errors.invalid(path, part, problem);
    if (part.size() == name.size()) return;
    name.remove_prefix(part.size() + 1);
  }
}

void check_pool_segments(std::string_view name, const kit::Path& path, FieldErrors& errors) {
  if (name.size() > kMaxSubdomain) errors.too_long(path, "", kMaxSubdomain);
  if (name.size() > 4 * kMaxSubdomain) return;  // each empty segment would print the whole name
  const std::string_view whole = name;
  for (std::size_t i = 0;; ++i) {
    const std::string_view part = name.substr(0, name.find('/'));
    const std::string segment = "segment " + std::to_string(i) + ": ";
    if (part.empty()) errors.invalid(path, whole, segment + "must not be empty");
    for (std::string& problem : part.empty() ? std::vector<std::string>() : is_dns1123_subdomain(part)) {
      if (problem.ends_with(" characters")) problem.replace(problem.size() - 10, 10, "bytes");
      errors.invalid(path, part, segment + problem);
    }
    if (part.size() == name.size()) return;
    name.remove_prefix(part.size() + 1);
  }
}

void check_qualified_name(std::string_view name, const kit::Path& path, FieldErrors& errors) {
  const auto slash = name.find('/');
  if (slash == std::string_view::npos) return check_identifier(name, path, errors);
  if (name.find('/', slash + 1) != std::string_view::npos) return;  // upstream checks two parts only
  if (slash == 0) {
    errors.invalid(path, "", "the domain must not be empty");
  } else {
    check_domain(name.substr(0, slash), path, errors);
  }
  if (slash + 1 == name.size()) {
    errors.invalid(path, "", "the name must not be empty");
  } else {
    check_identifier(name.substr(slash + 1), path, errors);
  }
}

void check_whole_qualified_name(std::string_view name, const kit::Path& path, FieldErrors& errors) {
  check_qualified_name(name, path, errors);
  if (name.find('/') == std::string_view::npos) {
    errors.invalid(path, name, "a fully qualified name must be a domain and a name separated by a slash");
  }
}

namespace {

constexpr std::size_t kUidSize = 36;
constexpr std::string_view kUrn = "urn:uuid:";

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

bool has_uid_form(std::string_view uid) {
  for (std::size_t i = 0; i < uid.size(); ++i) {
    const bool dash = uid.size() == kUidSize && (i == 8 || i == 13 || i == 18 || i == 23);
    if (dash ? uid[i] != '-' : !is_hex(uid[i])) return false;
  }
  return true;
}

// The text of Go's library, which also accepts UUIDs without dashes, in braces and as URNs.
std::string uid_problem(std::string_view uid) {
  const std::size_t size = uid.size();
  if (size == kUidSize + kUrn.size()) {
    const std::string_view prefix = uid.substr(0, kUrn.size());
    if (lower(prefix) != kUrn) return "invalid urn prefix: " + quoted(prefix);
    uid.remove_prefix(kUrn.size());
  } else if (size == kUidSize + 2) {
    if (uid.front() != '{' || uid.back() != '}') return "invalid bracketed UUID format";
    uid = uid.substr(1, kUidSize);
  } else if (size != kUidSize && size != kUidSize - 4) {
    return "invalid UUID length: " + std::to_string(size);
  }
  return has_uid_form(uid) ? "" : "invalid UUID format";
}

}  // namespace

void check_uid(std::string_view uid, const kit::Path& path, FieldErrors& errors) {
  const std::string problem = uid_problem(uid);
  if (!problem.empty()) {
    errors.invalid(path, uid, "error validating uid: " + problem);
  } else if (uid.size() != kUidSize || lower(uid) != uid) {
    errors.invalid(path, uid,
                   "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters");
  }
}

bool is_extended_resource_name(std::string_view name) {
  const bool native = name.find('/') == std::string_view::npos || name.find("kubernetes.io/") != std::string_view::npos;
  return !native && !name.starts_with("requests.") && is_qualified_name("requests." + std::string(name)).empty();
}

std::optional<std::int64_t> whole_quantity(std::string_view quantity) {
  const auto* suffix = std::find_if(kSuffixes.begin(), kSuffixes.end(), [&](const Suffix& row) { return quantity.ends_with(row.text); });
  const std::string_view digits = quantity.substr(0, quantity.size() - suffix->text.size());
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  std::int64_t scale = 1;
  for (int i = 0; i < std::abs(suffix->power); ++i) scale *= suffix->base;
  if (suffix->power < 0) return number / scale + (number % scale > 0 ? 1 : 0);
  std::int64_t out = 0;
  if (__builtin_mul_overflow(number, scale, &out)) return std::nullopt;
  return out;
}

std::string quantity_like(std::int64_t number, std::string_view like) {
  if (!like.ends_with('i')) return canonical_quantity(std::to_string(number)).value_or("");
  std::size_t power = 0;
  while (power < 6 && number != 0 && number % 1024 == 0) {
    number /= 1024;
    ++power;
  }
  return std::to_string(number) + (power == 0 ? "" : std::string(kSuffixes[power - 1].text));
}

}  // namespace backplane::resource
