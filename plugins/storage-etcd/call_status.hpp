// How a call to etcd has ended, in gRPC's words.
//
// Thread-safety: values.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace backplane::etcd {

enum class Code : std::uint8_t {
  kOk,
  kCancelled,
  kUnknown,
  kInvalidArgument,
  kDeadlineExceeded,
  kNotFound,
  kAlreadyExists,
  kPermissionDenied,
  kResourceExhausted,
  kFailedPrecondition,
  kAborted,
  kOutOfRange,
  kUnimplemented,
  kInternal,
  kUnavailable,
  kDataLoss,
  kUnauthenticated
};

struct CallStatus {
  CallStatus() = default;
  CallStatus(Code code_in, std::string message_in, bool never_sent_in = false)
      : code(code_in), message(std::move(message_in)), never_sent(never_sent_in) {}
  bool ok() const noexcept { return code == Code::kOk; }

  Code code = Code::kOk;
  std::string message;
  bool never_sent = false;  // no server has taken it
};

}  // namespace backplane::etcd
