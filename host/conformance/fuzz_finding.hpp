// A request whose response shows a fault of the server, and the requests that must precede it. A file stores them, so that they can be
// sent again.
//
// The file is JSON: {"problem": "…", "answer": "…", "requests": [{"method", "target", "contentType", "body" in base64}]}. The last request
// is the one of the finding.
//
// Thread-safety: functions of their arguments.
// Errors:        read_finding(): kBadRequest for a file that contains no finding.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/status.hpp"
#include "conformance/api.hpp"

namespace backplane::conformance {

struct FuzzRequest {
  std::string method, target, type, body;
};

struct FuzzFinding {
  std::string problem, answer;
  std::vector<FuzzRequest> requests;
};

Answer send(Api& api, const FuzzRequest& request);
// Returns the reason why a response is wrong; empty if it is correct. An error must be a metav1.Status with the code of the response. The
// code must be below 500; 500 is correct only if kube-apiserver returns 500 for the same body.
std::string problem_of(const Answer& answer);

std::string write_finding(const FuzzFinding& finding);
Result<FuzzFinding> read_finding(std::string_view text);
// Sends the requests of the finding. Returns the problem of the last response; empty if it is correct.
std::string replay(Api& api, const FuzzFinding& finding);

}  // namespace backplane::conformance
