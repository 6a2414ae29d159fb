// One call of one webhook, and the consequence of its failure: upstream's callHook and the decisions that follow it.
//
// A call ends at the earliest of three times: the webhook's timeout, the request's deadline, and the end of the chain's budget. The budget
// counts the time that the request has spent in webhooks of both steps. A deletecollection has no budget.
// Thread-safety: belongs to one write; several calls of one write run interleaved on its executor.
// Lifetime:      borrows hook, attributes and runtime until it has ended.
// Errors:        HookEnd::status is what the client receives if the write is refused.
// Source:        k8s.io/apiserver/pkg/admission/plugin/webhook/{mutating,validating}/dispatcher.go.
#pragma once

#include <chrono>
#include <list>
#include <optional>
#include <string>

#include "common/deadline.hpp"
#include "webhooks/hook.hpp"
#include "webhooks/review_answer.hpp"
#include "webhooks/review_request.hpp"

namespace backplane::admission::webhooks {

// Data that the calls of a plugin share.
struct HookRuntime {
  Host& host;
  std::chrono::nanoseconds chain_budget{0};
};

// The end of a call.
struct HookEnd {
  enum class Kind : unsigned char {
    kAllowed,
    kFailed,    // the webhook could not be called, or its response cannot be used: the failure policy decides
    kRejected,  // by the webhook
    kInternal,  // refused without regard to the failure policy
  };
  Kind kind = Kind::kAllowed;
  Status status;      // for kRejected and kInternal
  std::string why;    // for kFailed: `failed calling webhook "name": …`
  int code = 200;     // in the metrics
  std::string patch;  // for kAllowed; decoded JSON
  std::string patch_type;
  std::chrono::nanoseconds took{};
  bool hangs = false;  // kFailed: the deadline has passed, but the webhook has responded to another call recently
};
HookEnd hook_failed(const Hook& hook, const WebhookFailure& failure);
HookEnd hook_internal(Status status);

// The reviews of one write. A review is encoded once for all webhooks with the same version and kind.
class ReviewCache {
 public:
  // `schema`: the members of `object` are encoded in the order of this type; null: in the order of the object.
  const EncodedReview& get(const Hook& hook, const AdmissionAttributes& attributes, const ServedAs& target, const Object* object,
                           const Object* old_object, const Schema* schema = nullptr);
  // Call it when the object has changed.
  void clear() { reviews_.clear(); }

 private:
  struct Entry {
    std::string version;
    ServedAs target;
    EncodedReview review;
  };
  std::list<Entry> reviews_;  // references stay valid until clear()
};

// Calls the webhook with the review; null: the webhook accepts no known version. Adds the webhook's audit annotations and warnings to the
// request.
Task<HookEnd> call_hook(const HookRuntime& runtime, const Hook& hook, const AdmissionAttributes& attributes, const EncodedReview* review);
// If the write is a dry run that the webhook does not support, returns the end of the call; nullopt: the webhook may be called.
std::optional<HookEnd> refuse_dry_run(const Hook& hook, const AdmissionAttributes& attributes);

// Counts the end in the metrics and returns the refusal; nullopt: the write continues. `open_annotation`: the key of the audit annotation
// for a failure that does not refuse the write.
std::optional<Status> finish_call(const HookRuntime& runtime, const Hook& hook, const AdmissionAttributes& attributes, HookEnd end,
                                  const std::string& open_annotation);

}  // namespace backplane::admission::webhooks
