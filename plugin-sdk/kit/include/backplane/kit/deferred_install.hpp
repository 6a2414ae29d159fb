// Kinds that are served only while their feature gates are on, regardless of --runtime-config.
//
// Thread-safety: call the functions on the thread that runs the plugin's provision().
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "backplane/host.hpp"
#include "backplane/kit/group_document.hpp"

namespace backplane {
namespace kit BACKPLANE_API {

// A kind and its feature gates.
//
//   kit::defer_gated_kinds(host, document, {{"ResourceSlice", {"DynamicResourceAllocation"}}});
struct GatedKind {
  std::string_view kind;
  std::vector<std::string_view> gates;  // all of them must be on
};

// True if the feature gate exists and is on.
bool gate_is_on(const Host& host, std::string_view gate);

// Removes the kinds whose gates are off from `document`. Their types remain registered, so --runtime-config may name the versions of these
// kinds.
void defer_gated_kinds(const Host& host, GroupDocument& document, std::initializer_list<GatedKind> kinds);

}  // namespace BACKPLANE_API
}  // namespace backplane
