#include "schema_warnings.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "backplane/core/status.hpp"
#include "definition.hpp"
#include "schema_rules.hpp"

namespace backplane::apiextensions {
namespace {

// The formats of strings. Dashes in formats are ignored, so the names here have none.
constexpr std::array kFormats = {"bsonobjectid", "byte",        "cidr",         "creditcard", "date",     "datetime", "duration",
                                 "email",        "hexcolor",    "hostname",     "ipv4",       "ipv6",     "isbn",     "isbn10",
                                 "isbn13",       "k8slongname", "k8sshortname", "mac",        "password", "rgbcolor", "ssn",
                                 "uri",          "uuid",        "uuid3",        "uuid4",      "uuid5"};

bool is_recognized(std::string_view format, std::string_view type) {
  if (type == "integer") return format == "int32" || format == "int64";
  if (type == "number") return format == "float" || format == "double";
  if (!type.empty() && type != "string") return false;
  std::string plain(format);
  std::erase(plain, '-');
  return std::find(kFormats.begin(), kFormats.end(), plain) != kFormats.end();
}

std::vector<std::string> unrecognized_formats(const Object& crd) {
  std::vector<std::string> found;
  for (const Object* version : versions_of(crd)) {
    const Object* schema = schema_of(*version);
    if (schema == nullptr) continue;
    any_schema(*schema, [&](const Object& part) {
      const std::string_view format = get_string(part, "format");
      if (!format.empty() && !is_recognized(format, get_string(part, "type"))) found.push_back("unrecognized format " + quoted(format));
      return false;
    });
  }
  return found;
}

}  // namespace

std::vector<std::string> schema_warnings(const Object& crd, const Object* old) {
  const std::vector<std::string> before = old != nullptr ? unrecognized_formats(*old) : std::vector<std::string>();
  std::vector<std::string> warnings = unrecognized_formats(crd);
  std::erase_if(warnings, [&](const std::string& text) { return std::find(before.begin(), before.end(), text) != before.end(); });
  return warnings;
}

}  // namespace backplane::apiextensions
