// Resource lists (v1.ResourceList) and the arithmetic on them.
//
// Thread-safety: pure functions.
// Errors:        none; a text that is not a quantity counts as 0.
// Source:        k8s.io/apiserver/pkg/quota/v1/resources.go.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"

namespace backplane::admission {

// Quantities by resource name.
using ResourceList = std::map<std::string, std::string, std::less<>>;
// Sorted in results of functions.
using ResourceNames = std::vector<std::string>;

inline constexpr std::string_view kRequestsPrefix = "requests.";

// The member `key` of `parent` as a list; empty if it is absent.
ResourceList read_resources(const Object& parent, std::string_view key);

// a + b for each name.
ResourceList add(ResourceList a, const ResourceList& b);
void add_to(ResourceList& list, const ResourceList& more);
// a - b for each name, 0 instead of a negative amount.
ResourceList subtract_down_to_zero(const ResourceList& a, const ResourceList& b);
// Raises each amount of `list` to that of `other`.
void raise_to(ResourceList& list, const ResourceList& other);
// The entries of `list` with one of `names`.
ResourceList mask(const ResourceList& list, const ResourceNames& names);
void remove_zeros(ResourceList& list);
ResourceNames names_of(const ResourceList& list);
ResourceNames negative_names(const ResourceList& list);
// The names whose amount in `list` is above the one in `limits`.
ResourceNames exceeded_names(const ResourceList& list, const ResourceList& limits);
// Whether both lists name the same resources with equal quantities.
bool same_amounts(const ResourceList& a, const ResourceList& b);
bool contains(const ResourceNames& names, std::string_view name);

// The amount rounded away from zero to a whole number.
std::string rounded_up(const std::string& quantity);

// "cpu=1,memory=2Gi" and "cpu,memory".
std::string print(const ResourceList& list);
std::string print(ResourceNames names);

}  // namespace backplane::admission
