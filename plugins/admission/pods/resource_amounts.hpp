// Resource lists (v1.ResourceList): sums of containers, what a pod requests and may use.
//
// Thread-safety: pure functions.
// Source:        k8s.io/component-helpers/resource, and its copy in upstream's LimitRanger.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "backplane/core/json.hpp"

namespace backplane::admission::pods {

// Resource name → canonical quantity.
using Amounts = std::map<std::string, std::string, std::less<>>;

// The member `list` ("requests", "limits", "min" …) of `parent`; empty if it is absent.
Amounts amounts_in(const Object& parent, std::string_view list);
void add_amounts(Amounts& to, const Amounts& more);

// What the containers of a pod sum up to, in the list "requests" or "limits": containers and sidecars run together, other init containers
// one after the other.
Amounts sum_of_containers(const Object& pod_spec, std::string_view list);

// Replaces amounts by those of spec.resources of the pod itself. `huge_pages`: those of huge pages too, not only cpu and memory.
void take_pod_level(Amounts& amounts, const Object& pod_spec, std::string_view list, bool huge_pages);

// Whether the two lists name the same resources with equal quantities; an absent list is an empty one.
bool same_amounts(const Object* a, const Object* b);

}  // namespace backplane::admission::pods
