// Kinds that are served only while their feature gates are on, whatever --runtime-config says of their versions.
//
// Thread-safety: used while a plugin provisions, on one thread.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "backplane/kit/group_document.hpp"
#include "backplane/rest/host.hpp"

namespace backplane {
namespace kit BACKPLANE_API {

struct HeldBack {
  std::string_view kind;
  std::vector<std::string_view> gates;  // all of them have to be on
};

bool gate_is_on(const Host& host, std::string_view gate);

// Leaves such kinds out of the document.  Their types stay known: a version of theirs may be named in --runtime-config.
void hold_back(const Host& host, GroupDocument& document, std::initializer_list<HeldBack> kinds);

}  // namespace BACKPLANE_API
}  // namespace backplane
