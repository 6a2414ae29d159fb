#include "conformance/checks.hpp"

#include <array>

namespace backplane::conformance {

std::span<const Area> areas() noexcept {
  static constexpr std::array kAreas = std::to_array<Area>({
      {"discovery", check_discovery, "", ""},
      {"openapi", check_openapi, "", ""},
      {"access", check_access, "", ""},
      {"create", check_create, "create", ""},
      {"metadata", check_metadata_rules, "create", ""},
      {"field validation", check_field_validation, "create", ""},
      {"bodies", check_bodies, "create", ""},
      {"get", check_get, "get", ""},
      {"media types", check_media_types, "get", ""},
      {"list", check_list, "list", ""},
      {"pages", check_pages, "list", ""},
      {"selectors", check_selectors, "list", ""},
      {"update", check_update, "update", ""},
      {"patch", check_patch, "patch", ""},
      {"apply", check_apply, "patch", ""},
      {"delete", check_delete, "delete", ""},
      {"finalizers", check_finalizers, "delete", ""},
      {"deletecollection", check_delete_collection, "deletecollection", ""},
      {"watch", check_watch, "watch", ""},
      {"watch list", check_watch_list, "watch", ""},
      {"status", check_status, "", "status"},
      {"scale", check_scale, "", "scale"},
  });
  return kAreas;
}

}  // namespace backplane::conformance
