// Node selectors as lists of labels ("a=b,c=d"), and the configuration of PodNodeSelector.
//
// Thread-safety: pure functions.
// Errors:        500 with upstream's text for a selector in a namespace; kBadRequest for a configuration that cannot be used.
// Source:        k8s.io/apimachinery/pkg/labels, k8s.io/kubernetes/plugin/pkg/admission/podnodeselector.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"

namespace backplane::admission::pods {

using LabelMap = std::map<std::string, std::string, std::less<>>;

// Reads a selector like labels.ConvertSelectorToLabelsMap.
Result<LabelMap> labels_of_selector(std::string_view selector);

LabelMap labels_of(const Object& labels);
// Whether a key has different values in the two maps.
bool labels_conflict(const LabelMap& a, const LabelMap& b);
// Whether `all` has each label of `some`; true if `all` is empty.
bool is_label_subset(const LabelMap& some, const LabelMap& all);

// {"podNodeSelectorPluginConfig": {"clusterDefaultNodeSelector": "a=b", "namespace": "c=d"}}; empty: none.
Result<LabelMap> parse_node_selector_config(std::string_view text);

}  // namespace backplane::admission::pods
