// The decision of PodSecurity on one write: refusal, warnings and audit annotations.
//
// Thread-safety: values and pure functions.
// Source:        k8s.io/pod-security-admission/admission (admission.go, response.go).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/points/admission.hpp"
#include "podsecurity/configuration.hpp"

namespace backplane::admission::podsecurity {

struct Review {
  Status refusal;  // success: the write is allowed
  std::vector<std::string> warnings;
  std::map<std::string_view, std::string> annotations;  // keys without prefix
};
// Adds warnings and annotations to the request and returns the refusal.
Status publish(Review review, const AdmissionAttributes& attributes);

// ---- namespaces (namespace_review.cpp)
struct NamespaceReview {
  Review review;
  // Set if the pods of the namespace must be checked against this level, for warnings.
  std::optional<LevelVersion> checks_pods;
};
NamespaceReview review_namespace(const Configuration& configuration, const AdmissionAttributes& attributes);

// ---- pods and objects with pod templates (pod_review.cpp)
// The path of the pod spec's owner in the object: "" for pods, "spec.template" …; nullopt if the resource has no pod spec.
std::optional<std::string_view> template_path(const GroupVersionResource& resource) noexcept;
// The review if it does not depend on the namespace: an ignored subresource, an exempt namespace or an exempt user. Otherwise nullopt.
std::optional<Review> review_exemptions(const Configuration& configuration, const AdmissionAttributes& attributes);
// The review if the namespace of the pod could not be read.
Review review_failed_lookup(const AdmissionAttributes& attributes, const Status& error);
// `labels`: the labels of the namespace.
Review review_pod(const Configuration& configuration, const AdmissionAttributes& attributes, const Labels& labels);

}  // namespace backplane::admission::podsecurity
