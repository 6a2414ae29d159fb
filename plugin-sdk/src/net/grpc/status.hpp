// The status of a call, from the header fields of a response, or from the error of a client.
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

// Returns the status in the header or in the trailers of the response. Call it when the body has ended.
CallStatus status_of(const ResponseFields& response);
// True if the body contains gRPC messages. The error page of a proxy does not.
bool carries_messages(const ResponseFields& response);
// Returns the status of a call that failed in the client.
CallStatus status_of_failure(const Status& failed);
// Returns the value of the header grpc-timeout: at most eight digits and a unit.
std::string timeout_text(std::chrono::steady_clock::duration left);

}  // namespace backplane::grpc
