// Lists of tolerations in the configuration of PodTolerationRestriction and in annotations of namespaces.
//
// Thread-safety: pure functions.
// Errors:        kBadRequest for a configuration, with the text of upstream's decoder or validation; 500 for an annotation, with the text
//                of Go's decoder. Unlike upstream, unknown fields of the configuration are errors.
// Source:        k8s.io/kubernetes/plugin/pkg/admission/podtolerationrestriction.
#pragma once

#include <optional>
#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"

namespace backplane::admission::pods {

struct TolerationConfig {
  Array defaults;
  Array allowed;  // empty: all
};

// podtolerationrestriction.admission.k8s.io/v1alpha1, Configuration, in JSON; empty: none.
Result<TolerationConfig> parse_toleration_config(std::string_view text);

// The list in the annotation `key` of a namespace; nullopt: it has none.
Result<std::optional<Array>> tolerations_of_namespace(const Object& ns, std::string_view key);

}  // namespace backplane::admission::pods
