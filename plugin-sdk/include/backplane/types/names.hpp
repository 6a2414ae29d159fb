// Name and value rules shared by every kind: apimachinery util/validation and api/validation.
//
// Thread-safety: pure functions.
// Each is_… returns the messages upstream gives for a bad text; empty: the text is good.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// How long names may be and which characters they hold: apimachinery validation.NameIs….
enum class NameRule : unsigned char { kDnsSubdomain, kDnsLabel, kDns1035Label, kPathSegment };

using Problems = std::vector<std::string>;

Problems is_dns1123_label(std::string_view text);
Problems is_dns1123_subdomain(std::string_view text);
Problems is_dns1035_label(std::string_view text);
Problems is_qualified_name(std::string_view text);  // label and annotation keys
Problems is_valid_label_value(std::string_view text);
Problems is_path_segment_name(std::string_view text);
Problems is_config_map_key(std::string_view text);
Problems is_env_var_name(std::string_view text);
Problems is_valid_port_num(long long port);
Problems is_valid_port_name(std::string_view text);
Problems is_valid_ip(std::string_view text);
// A name by rule; `prefix`: the text is a generateName (a trailing dash is allowed).
Problems check_name(NameRule rule, std::string_view text, bool prefix);

// ObjectMeta as validation.ValidateObjectMeta / ValidateObjectMetaUpdate do it; `path` is "metadata".
void validate_object_meta(const Object& object, bool namespaced, NameRule rule, FieldErrors& errors);
void validate_object_meta_update(const Object& object, const Object& old, FieldErrors& errors);
void validate_labels(const Object& labels, const std::string& path, FieldErrors& errors);
void validate_annotations(const Object& annotations, const std::string& path, FieldErrors& errors);
// metav1.LabelSelector.
void validate_label_selector(const Object& selector, const std::string& path, FieldErrors& errors);

// resource.Quantity: canonical text, or nothing when `text` is no quantity.
std::optional<std::string> canonical_quantity(std::string_view text);
// Sign of a - b; both canonical.
int compare_quantities(std::string_view a, std::string_view b);
// Canonical text of a + b, in the form of `a`, of `b` where `a` is zero; what is no quantity is zero.
std::string sum_of_quantities(std::string_view a, std::string_view b);

}  // namespace BACKPLANE_API
