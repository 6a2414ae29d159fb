// How calls end: from the header fields of an answer, or from the error of a client.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/net/grpc.hpp"

namespace backplane::grpc {

// What the server has said before or after the messages; call it when the body has ended.
CallStatus status_of(const HttpAnswer& answer);
// Whether the body holds messages; a proxy's page does not.
bool carries_messages(const HttpAnswer& answer);
// Of a call that the client could not make, or bring to its end.
CallStatus status_of_failure(const Status& failed);
// The value of grpc-timeout; at most eight digits and a unit.
std::string timeout_text(std::chrono::steady_clock::duration left);

}  // namespace backplane::grpc
