// The response to a request that has exceeded its deadline. kube-apiserver's timeout filter writes a Status without kind and apiVersion,
// whatever the client accepts. It sets no content type, so Go detects text. Object writes with the maximum timeout kLongestWrite get an
// ordinary Status.
//
// Thread-safety: a pure function.
// Source:        k8s.io/apiserver/pkg/server/filters/timeout.go, pkg/endpoints/handlers/{rest.go,finisher}.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <string_view>

#include "backplane/core/request.hpp"
#include "backplane/core/status.hpp"

namespace backplane {

constexpr std::string_view kTimedOutType = "text/plain; charset=utf-8";

inline Status timed_out_status() { return timeout("request did not complete within the allotted timeout", 0); }

inline std::string timed_out_body() {
  constexpr std::string_view kTypeMeta = R"("kind":"Status","apiVersion":"v1",)";
  std::string out = timed_out_status().to_json();
  if (const auto at = out.find(kTypeMeta); at != std::string::npos) out.erase(at, kTypeMeta.size());
  return out;
}

// Upstream's requestTimeoutUpperBound: the maximum timeout of a write. --request-timeout and the client can only shorten it.
constexpr std::chrono::seconds kLongestWrite{34};

inline bool is_object_write(const RequestInfo& info) {
  constexpr std::array<std::string_view, 4> kVerbs{"create", "update", "patch", "delete"};
  return info.is_resource_request && std::find(kVerbs.begin(), kVerbs.end(), info.verb) != kVerbs.end();
}

struct TimedOutAnswer {
  std::string_view type;
  std::string body;
};
// Returns the response to a request that has reached its deadline.
inline TimedOutAnswer timed_out_answer(const RequestContext& context) {
  if (!is_object_write(context.info) || context.deadline < context.received + kLongestWrite) return {kTimedOutType, timed_out_body()};
  return {"application/json", timeout("request did not complete within requested timeout - context deadline exceeded", 0).to_json()};
}

}  // namespace backplane
