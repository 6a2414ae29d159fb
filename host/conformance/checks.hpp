// The checks of one type. They are grouped into areas; each area creates the objects that it needs, and depends on no other area.
//
// Thread-safety: one thread.
// Source:        kube-apiserver 1.36: k8s.io/apiserver/pkg/endpoints/handlers, pkg/registry; docs/reference/using-api of kubernetes.io.
#pragma once

#include <span>

#include "conformance/report.hpp"
#include "conformance/subject.hpp"

namespace backplane::conformance {

struct Area {
  const char* name;
  void (*check)(Subject& subject, Report& report);
  const char* verb;         // the area runs only for types with this verb; empty: for all types
  const char* subresource;  // the area runs only for types with this subresource; empty: for all types
};

// All areas, in the order in which they run.
std::span<const Area> areas() noexcept;

void check_discovery(Subject& subject, Report& report);
void check_openapi(Subject& subject, Report& report);
void check_create(Subject& subject, Report& report);
void check_metadata_rules(Subject& subject, Report& report);
void check_field_validation(Subject& subject, Report& report);
void check_bodies(Subject& subject, Report& report);
void check_get(Subject& subject, Report& report);
void check_media_types(Subject& subject, Report& report);
void check_list(Subject& subject, Report& report);
void check_pages(Subject& subject, Report& report);
void check_selectors(Subject& subject, Report& report);
void check_update(Subject& subject, Report& report);
void check_patch(Subject& subject, Report& report);
void check_apply(Subject& subject, Report& report);
void check_delete(Subject& subject, Report& report);
void check_finalizers(Subject& subject, Report& report);
void check_delete_collection(Subject& subject, Report& report);
void check_watch(Subject& subject, Report& report);
void check_watch_list(Subject& subject, Report& report);
void check_status(Subject& subject, Report& report);
void check_scale(Subject& subject, Report& report);
void check_access(Subject& subject, Report& report);

}  // namespace backplane::conformance
