// The kind that a JSON document states, read and completed as upstream's JSON decoder does.
//
// Thread-safety: pure functions.
// Errors:        the text of the decoder, without a reason.
// Source:        k8s.io/apimachinery/pkg/runtime/serializer/json.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/core/status.hpp"

namespace backplane::admission::webhooks {

constexpr std::string_view kKindParseError = "couldn't get version/kind; json parse error: ";
Status undecodable(std::string message);

// apiVersion and kind; empty for null. Errors: members of another type than text, a malformed apiVersion, a value that is not an object.
Result<GroupVersionKind> stated_kind(const Value& value);
// Replaces absent parts by those of `expected`.
GroupVersionKind completed_kind(GroupVersionKind kind, const GroupVersionKind& expected);

}  // namespace backplane::admission::webhooks
