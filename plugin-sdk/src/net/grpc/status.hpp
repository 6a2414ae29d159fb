// The status of a call from a response's header fields, or from a client's error.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/net/grpc.hpp"

namespace backplane::grpc {

// The fields of a response that determine the status of its call.
struct ResponseFields {
  int code;
  const Headers& headers;
  const Headers& trailers;
};
inline ResponseFields fields_of(const HttpAnswer& answer) { return {answer.code(), answer.headers(), answer.trailers()}; }

// The status in the server's header or trailers; call it when the body has ended.
CallStatus status_of(const ResponseFields& response);
// Whether the body holds messages, which an error page of a proxy does not.
bool carries_messages(const ResponseFields& response);
// The status of a call that failed in the client.
CallStatus status_of_failure(const Status& failed);
// The value of grpc-timeout; at most eight digits and a unit.
std::string timeout_text(std::chrono::steady_clock::duration left);

}  // namespace backplane::grpc
