#include "schema_warnings.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "backplane/status.hpp"
#include "definition.hpp"
#include "schema_rules.hpp"

namespace backplane::apiextensions {
namespace {

constexpr std::array kFormats = {"bsonobjectid", "byte",  "cidr",   "creditcard", "date",     "date-time",      "datetime",     "double",
                                 "duration",     "email", "float",  "hexcolor",   "hostname", "int32",          "int64",        "ipv4",
                                 "ipv6",         "isbn",  "isbn10", "isbn13",     "mac",      "password",       "rgbcolor",     "ssn",
                                 "uri",          "uuid",  "uuid3",  "uuid4",      "uuid5",    "k8s-short-name", "k8s-long-name"};

struct Found {
  std::vector<std::string> formats;
  std::set<std::string> sets;
};

Found look(const Object& crd) {
  Found found;
  for (const Object* version : versions_of(crd)) {
    const Object* schema = schema_of(*version);
    if (schema == nullptr) continue;
    any_schema(*schema, [&](const Object& part) {
      const std::string_view format = get_string(part, "format");
      if (!format.empty() && std::find(kFormats.begin(), kFormats.end(), format) == kFormats.end()) {
        found.formats.push_back("unrecognized format " + quoted(format));
      }
      const Object* items = get_object(part, "items");
      const std::string_view type = items ? get_string(*items, "type") : std::string_view();
      if (get_string(part, "x-kubernetes-list-type") == "set" && (type == "object" || type == "array")) {
        found.sets.insert("x-kubernetes-list-type: set for items of type " + quoted(type) +
                          " is not supported by server-side apply or CEL validation rules");
      }
      return false;
    });
  }
  return found;
}

}  // namespace

std::vector<std::string> schema_warnings(const Object& crd, const Object* old) {
  const Found now = look(crd);
  const Found before = old ? look(*old) : Found();
  std::vector<std::string> warnings;
  for (const std::string& text : now.formats) {
    if (std::find(before.formats.begin(), before.formats.end(), text) == before.formats.end()) warnings.push_back(text);
  }
  for (const std::string& text : now.sets) {
    if (before.sets.count(text) == 0) warnings.push_back(text);
  }
  return warnings;
}

}  // namespace backplane::apiextensions
