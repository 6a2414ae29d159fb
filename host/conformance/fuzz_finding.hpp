// A request whose response shows a fault of the server, with the requests that prepare it; kept in a file that replays it.
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
// The reason why a response is wrong; empty: it is correct. An error must be a metav1.Status with the code of the response: below 500, or
// 500 if kube-apiserver returns 500 for the same body.
std::string problem_of(const Answer& answer);

std::string write_finding(const FuzzFinding& finding);
Result<FuzzFinding> read_finding(std::string_view text);
// Sends its requests. The problem of the last response; empty: there is none.
std::string replay(Api& api, const FuzzFinding& finding);

}  // namespace backplane::conformance
