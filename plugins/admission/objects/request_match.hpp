// Tests of the resource or the kind of a write.
//
// Thread-safety: pure functions.
#pragma once

#include <string_view>

#include "backplane/points/admission.hpp"

namespace backplane::admission::objects {

inline bool is_of_resource(const AdmissionAttributes& attributes, std::string_view group, std::string_view resource) noexcept {
  return attributes.resource.resource == resource && attributes.resource.group == group;
}

inline bool is_of_kind(const AdmissionAttributes& attributes, std::string_view group, std::string_view kind) noexcept {
  return attributes.kind.kind == kind && attributes.kind.group == group;
}

// A write of a whole object of the resource, not of one of its subresources.
inline bool is_main_write(const AdmissionAttributes& attributes, std::string_view group, std::string_view resource) noexcept {
  return attributes.subresource.empty() && attributes.object != nullptr && is_of_resource(attributes, group, resource);
}

}  // namespace backplane::admission::objects
