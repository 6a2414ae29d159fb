// The continue parameter of a list: base64url of {"v":"meta.k8s.io/v1","rv":N,"start":"key relative to the list"}.
//
// Thread-safety: pure functions.
// Errors:        kBadRequest `invalid continue token: …`, worded as upstream's storage.DecodeContinue.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/status.hpp"
#include "backplane/points/storage.hpp"

namespace backplane {

struct ContinueToken {
  Revision revision = 0;  // negative: continue at the newest revision, so the pages of the list differ in their revision
  std::string start;      // the full key at which the list continues
};

std::string encode_continue(std::string_view start, std::string_view list_prefix, Revision revision);
Result<ContinueToken> decode_continue(std::string_view token, std::string_view list_prefix);

}  // namespace backplane
