#include "kinds.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/types/names.hpp"
#include "backplane/types/schema.hpp"
#include "internal_group_json.hpp"
#include "internal_v1alpha1_json.hpp"

namespace backplane::internal {
namespace {

using namespace kit;

// Checks that the name has the form "GROUP.RESOURCE".
void check_name(std::string_view name, FieldErrors& errors) {
  const auto add_error = [&](const std::string& text) { errors.invalid("metadata.name", name, text); };
  const auto dot = name.rfind('.');
  if (dot == std::string_view::npos) return add_error("name must be in the form of <group>.<resource>");
  for (const std::string& problem : is_dns1123_subdomain(name.substr(0, dot))) add_error("the group segment " + problem);
  for (const std::string& problem : is_dns1035_label(name.substr(dot + 1))) add_error("the resource segment " + problem);
}

class StorageVersionStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  void check_new(const Object& object, FieldErrors& errors) const override { check_name(meta_name(object), errors); }
};

// Validates the consistency of one server's entry.
void check_server(const Object& server, const std::string& path, FieldErrors& errors) {
  const std::string encoding(get_string(server, "encodingVersion"));
  const auto decodable = texts_of(server, "decodableVersions");
  const auto reads = [&](std::string_view version) { return std::find(decodable.begin(), decodable.end(), version) != decodable.end(); };
  const Value* list = find(server, "decodableVersions");
  if (!reads(encoding)) {
    errors.invalid_raw(at(path, "decodableVersions"), list != nullptr ? to_json(*list) : "null",
                       "decodableVersions must include encodingVersion " + encoding);
  }
  each_text(server, "servedVersions", [&](std::string_view version, std::size_t i) {
    if (reads(version)) return;
    errors.invalid(at(at(path, "servedVersions"), i), version,
                   "individual served version : " + std::string(version) +
                       " must be included in decodableVersions : " + (list != nullptr ? go_print(*list) : "[]"));
  });
}

// The common storage version of all servers; nullopt if they differ, or if there is no server.
std::optional<std::string> common_version(const Object& status) {
  std::optional<std::string> out;
  bool agree = true;
  each(status, "storageVersions", [&](const Object& server, std::size_t) {
    const std::string version(get_string(server, "encodingVersion"));
    agree = agree && (!out || *out == version);
    out = version;
  });
  return agree ? out : std::nullopt;
}

void check_common_version(const Object& status, FieldErrors& errors) {
  const auto common = common_version(status);
  const Value* stored = find(status, "commonEncodingVersion");
  const auto add_error = [&](const std::string& text) {
    errors.invalid_raw("status.commonEncodingVersion", stored != nullptr ? to_json(*stored) : "null", text);
  };
  if (!common && stored != nullptr) {
    add_error(
        "should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions "
        "yet");
  } else if (common && stored == nullptr) {
    add_error("the common encoding version is " + *common);
  } else if (common && text_of(*stored) != *common) {
    add_error("the actual common encoding version is " + *common);
  }
}

class StorageVersionStatusStrategy final : public StatusStrategy {
 public:
  using StatusStrategy::StatusStrategy;

 protected:
  void check_status(const Object& object, const Object&, FieldErrors& errors) const override {
    const Object& status = object_or_empty(object, "status");
    each(status, "storageVersions",
         [&](const Object& server, std::size_t i) { check_server(server, at("status.storageVersions", i), errors); });
    check_common_version(status, errors);
    std::map<std::string_view, std::size_t> seen;
    each(status, "conditions", [&](const Object& condition, std::size_t i) {
      const std::string_view type = get_string(condition, "type");
      const auto [before, added] = seen.emplace(type, i);
      if (added) return;
      errors.invalid(at(at("status", i), "type"), type,
                     "the type of the condition is not unique, it also appears in conditions[" + std::to_string(before->second) + "]");
      before->second = i;
    });
  }
};

// "server-1=v1,server-2=v1 + 3 more..."
void print_versions(const Object& object, std::int64_t, Array& cells) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> shown;
  const Object& status = object_or_empty(object, "status");
  each(status, "storageVersions", [&](const Object& server, std::size_t) {
    if (shown.size() == kMost) return;
    shown.push_back(std::string(get_string(server, "apiServerID")) + "=" + std::string(get_string(server, "encodingVersion")));
  });
  const std::size_t count = count_of(status, "storageVersions");
  const std::string all = shown.empty() ? "<unset>" : joined(shown);
  cells.emplace_back(count > kMost ? all + " + " + std::to_string(count - kMost) + " more..." : all);
}

}  // namespace

Result<GroupDocument> internal_group() {
  return read_group(
      internal_group_json(),
      {.printers = {{"versions", print_versions}},
       .kinds = {{"StorageVersion", {.make = made<StorageVersionStrategy>(), .make_status = made_status<StorageVersionStatusStrategy>}}}});
}

Result<std::vector<std::shared_ptr<const SchemaSet>>> internal_schemas() { return embedded_schemas({internal_v1alpha1_json()}); }

}  // namespace backplane::internal
