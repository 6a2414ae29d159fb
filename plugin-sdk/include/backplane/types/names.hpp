// Validation of names, labels, annotations and quantities: apimachinery util/validation and api/validation.
//
// Thread-safety: pure functions.
// Errors:        each is_… function returns upstream's messages for an invalid text; an empty result means that the text is valid.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// Length and characters of an object's name (apimachinery validation.NameIs…).
enum class NameRule : unsigned char { kDnsSubdomain, kDnsLabel, kDns1035Label, kPathSegment };

// Messages, in upstream's order.
using Problems = std::vector<std::string>;

Problems is_dns1123_label(std::string_view text);
Problems is_dns1123_subdomain(std::string_view text);
Problems is_dns1035_label(std::string_view text);
Problems is_qualified_name(std::string_view text);  // keys of labels, annotations, conditions: [prefix/]name
Problems is_valid_label_value(std::string_view text);
Problems is_path_segment_name(std::string_view text);
Problems is_config_map_key(std::string_view text);
Problems is_env_var_name(std::string_view text);
Problems is_valid_port_num(long long port);
Problems is_valid_port_name(std::string_view text);
Problems is_valid_ip(std::string_view text);  // IPv4 or IPv6, strict
// Checks a name by the given rule. `prefix`: `text` is a generateName, whose last character may be a dash.
Problems check_name(NameRule rule, std::string_view text, bool prefix);

// validation.ValidateObjectMeta and ValidateObjectMetaUpdate, with "metadata" as the path. `namespaced`: whether objects of the kind belong
// to a namespace.
void validate_object_meta(const Object& object, bool namespaced, NameRule rule, FieldErrors& errors);
void validate_object_meta_update(const Object& object, const Object& old, FieldErrors& errors);
void validate_labels(const Object& labels, const std::string& path, FieldErrors& errors);
void validate_annotations(const Object& annotations, const std::string& path, FieldErrors& errors);
// metav1 validation.ValidateLabelSelector.
void validate_label_selector(const Object& selector, const std::string& path, FieldErrors& errors);

// Returns the text that Kubernetes prints for a resource.Quantity; nullopt if `text` is not a quantity. "0.5" becomes "500m", and "1000m"
// becomes "1". Like upstream's parser, it may return `text` unchanged.
std::optional<std::string> canonical_quantity(std::string_view text);
// Returns a number that is negative, 0 or positive if a < b, a == b or a > b. Accepts any quantity, canonical or not. A text that is not a
// quantity counts as 0.
int compare_quantities(std::string_view a, std::string_view b);
// Returns the canonical text of a + b, in the format (binary or decimal) of `a`, or of `b` if `a` is zero. A text that is not a quantity
// counts as 0.
std::string sum_of_quantities(std::string_view a, std::string_view b);

}  // namespace BACKPLANE_API
