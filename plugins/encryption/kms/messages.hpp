// Errors about protobuf messages, as protobuf-go and grpc-go report them.
//
// Thread-safety: pure functions.
#pragma once

#include "outcome.hpp"

namespace backplane::encryption {

inline constexpr std::string_view kUndecodable = "proto: cannot parse invalid wire-format data";

// The error for a stored value.
inline Failure undecodable_value() { return Failure{std::string(kUndecodable)}; }
// The error for a response of a plugin.
inline Failure undecodable_response() {
  return Failure{"rpc error: code = Internal desc = grpc: failed to unmarshal the received message: " + std::string(kUndecodable),
                 "Internal"};
}

}  // namespace backplane::encryption
