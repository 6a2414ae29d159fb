// The AdmissionReview that a webhook receives.
//
// Thread-safety: pure functions.
// Source:        k8s.io/apiserver/pkg/admission/plugin/webhook/request, k8s.io/api/admission/v1; v1beta1 has the same fields.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/points/admission.hpp"
#include "common/served_as.hpp"

namespace backplane::admission::webhooks {

// The review without its uid, encoded once for all webhooks that receive it.
struct EncodedReview {
  std::string head, tail;  // the body is head + quoted uid + tail
  std::string body(std::string_view uid) const;
};
// `version`: "v1" or "v1beta1". `object` and `old_object` have the target's kind; null if the write has none.
EncodedReview encode_review(std::string_view version, const AdmissionAttributes& attributes, const ServedAs& target, const Object* object,
                            const Object* old_object);

}  // namespace backplane::admission::webhooks
