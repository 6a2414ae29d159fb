// API groups of the stable tier (groups.h).
//
// Thread-safety: the functions of a kind are called on the request's thread, several at the same time.
// Lifetime:      install_group() stores the functions as long as the plugin exists.
// Errors:        if a function throws, the request fails with the code and reason of the Error. If an Error has neither, and for any other
//                exception, the request fails with 500.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/stable/groups.h"
#include "backplane/stable/json.hpp"

namespace backplane::stable {

// The validation errors of an object.
class FieldErrors {
 public:
  FieldErrors(const Host& host, bp_field_errors* errors) : host_(host), errors_(errors) {}
  void required(std::string_view field, std::string_view detail = {}) { add(BP_FIELD_REQUIRED, field, {}, detail); }
  void invalid(std::string_view field, std::int64_t value, std::string_view detail) {
    add(BP_FIELD_INVALID, field, std::to_string(value), detail);
  }
  void invalid(std::string_view field, std::string_view value, std::string_view detail) {
    add(BP_FIELD_INVALID, field, quoted(host_, value), detail);
  }
  void forbidden(std::string_view field, std::string_view detail) { add(BP_FIELD_FORBIDDEN, field, {}, detail); }
  void duplicate(std::string_view field, std::string_view value) { add(BP_FIELD_DUPLICATE, field, quoted(host_, value), {}); }
  // `type`: one of BP_FIELD_…. `value`: the value as the message prints it.
  void add(std::uint32_t type, std::string_view field, std::string_view value, std::string_view detail) {
    host_.find<bp_groups_table>(BP_GROUPS_TABLE, 1).field_error(errors_, type, str(field), str(value), str(detail));
  }

 private:
  const Host& host_;
  bp_field_errors* errors_;
};

// The functions of a kind; a function that is not set has no effect.
struct Kind {
  std::string kind;
  std::function<void(Json& object)> set_defaults = {};
  std::function<void(const Json& object, FieldErrors& errors)> check = {};
  std::function<void(const Json& object, const Json& old, FieldErrors& errors)> check_change = {};
  std::function<void(const Json& object, const Json& old, FieldErrors& errors)> check_status = {};
  // Converts the object from one version to another, in place.
  std::function<void(std::string_view from, std::string_view to, Json& object)> convert = {};
};

namespace detail {

struct KeptKind {
  Host& host;
  Kind kind;
  bp_kind table{};
};

template <auto Member>
int32_t check_change_of(void* self, bp_str object, bp_str old, bp_field_errors* errors, bp_error* error) {
  return barrier(error, [&] {
    auto& own = *static_cast<KeptKind*>(self);
    FieldErrors list(own.host, errors);
    (own.kind.*Member)(Json(own.host, view(object)), Json(own.host, view(old)), list);
  });
}

inline bp_kind table_of(KeptKind* kept) {
  bp_kind table{};
  table.struct_size = sizeof(table);
  table.kind = str(kept->kind.kind);
  table.self = kept;
  if (kept->kind.set_defaults) {
    table.set_defaults = [](void* self, bp_str object, bp_output* changed, bp_error* error) {
      return barrier(error, [&] {
        auto& own = *static_cast<KeptKind*>(self);
        Json json(own.host, view(object));
        own.kind.set_defaults(json);
        if (json.changed()) own.host.write(changed, json.text());
      });
    };
  }
  if (kept->kind.check) {
    table.check = [](void* self, bp_str object, bp_field_errors* errors, bp_error* error) {
      return barrier(error, [&] {
        auto& own = *static_cast<KeptKind*>(self);
        FieldErrors list(own.host, errors);
        own.kind.check(Json(own.host, view(object)), list);
      });
    };
  }
  if (kept->kind.check_change) table.check_change = check_change_of<&Kind::check_change>;
  if (kept->kind.convert) {
    table.convert = [](void* self, bp_str from, bp_str to, bp_str object, bp_output* converted, bp_error* error) {
      return barrier(error, [&] {
        auto& own = *static_cast<KeptKind*>(self);
        Json json(own.host, view(object));
        own.kind.convert(view(from), view(to), json);
        own.host.write(converted, json.text());
      });
    };
  }
  if (kept->kind.check_status) table.check_status = check_change_of<&Kind::check_status>;
  return table;
}

}  // namespace detail

// Installs a group from its document and the documents with the types of its versions. Call it in provision().
inline void install_group(Host& host, std::string_view document, const std::vector<std::string_view>& schemas,
                          std::vector<Kind> kinds = {}) {
  std::vector<bp_str> types;
  for (const std::string_view schema : schemas) types.push_back(str(schema));
  std::vector<const bp_kind*> tables;
  for (Kind& kind : kinds) {
    auto* kept = host.keep(detail::KeptKind{host, std::move(kind)});
    kept->table = detail::table_of(kept);
    tables.push_back(&kept->table);
  }
  const bp_group group = {sizeof(bp_group), str(document), types.data(), types.size(), tables.data(), tables.size()};
  const auto& table = host.find<bp_groups_table>(BP_GROUPS_TABLE, 1);
  detail::checked([&](bp_error* error) { return table.install(host.context(), &group, error); });
}

}  // namespace backplane::stable
