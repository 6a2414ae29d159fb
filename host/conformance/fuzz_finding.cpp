#include "conformance/fuzz_finding.hpp"

#include <algorithm>
#include <iterator>

#include "backplane/core/json_access.hpp"
#include "backplane/types/base64.hpp"
#include "conformance/report.hpp"

namespace backplane::conformance {
namespace {

// The beginnings of messages for which kube-apiserver also returns 500. First: an applied object does not fit the schema. Second: a patch
// removes apiVersion.
constexpr std::string_view kKnown[] = {"failed to create typed patch object (",
                                       "Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion field'"};

bool is_expected_500(const Answer& answer) {
  const auto begins = [&](std::string_view known) { return answer.text("message").starts_with(known); };
  return answer.code == 500 && std::any_of(std::begin(kKnown), std::end(kKnown), begins);
}

}  // namespace

Answer send(Api& api, const FuzzRequest& request) {
  Headers headers;
  if (!request.type.empty()) headers.emplace_back("Content-Type", request.type);
  return api.send(request.method, request.target, request.body, std::move(headers));
}

std::string problem_of(const Answer& answer) {
  if (answer.code == 0) return "no response: " + answer.body;
  if (answer.code >= 500 && !is_expected_500(answer)) return "a fault of the server";
  if (answer.code < 400) return answer.object.empty() ? "a success whose body is no object" : "";
  if (answer.text("kind") != "Status") return "an error whose body is no Status";
  const Value* code = answer.object.if_contains("code");
  if (code == nullptr || !code->is_int64() || code->get_int64() != answer.code) return "a Status of another code than the response";
  return {};
}

std::string write_finding(const FuzzFinding& finding) {
  Array requests;
  for (const auto& each : finding.requests) {
    requests.push_back(
        Object{{"method", each.method}, {"target", each.target}, {"contentType", each.type}, {"body", to_base64(each.body)}});
  }
  // People read the answer; the replay does not need it. So other characters than ASCII are replaced.
  std::string answer;
  for (const char c : finding.answer.substr(0, 4096)) answer += static_cast<unsigned char>(c) < 0x80 ? c : '?';
  return to_json(Object{{"problem", finding.problem}, {"answer", answer}, {"requests", std::move(requests)}}) + "\n";
}

Result<FuzzFinding> read_finding(std::string_view text) {
  boost::system::error_code error;
  const Value value = json::parse({text.data(), text.size()}, error);
  if (error || !value.is_object()) return bad_request("not a finding: no JSON object");
  FuzzFinding out{std::string(get_string(value.get_object(), "problem")), std::string(get_string(value.get_object(), "answer")), {}};
  bool readable = true;
  each(value.get_object(), "requests", [&](const Object& request, std::size_t) {
    const auto body = from_base64(get_string(request, "body"));
    readable = readable && body.has_value();
    out.requests.push_back({std::string(get_string(request, "method")), std::string(get_string(request, "target")),
                            std::string(get_string(request, "contentType")), body ? std::string(*body) : std::string()});
  });
  if (out.requests.empty() || !readable) return bad_request("not a finding: \"requests\" must have requests with a body in base64");
  return out;
}

std::string replay(Api& api, const FuzzFinding& finding) {
  std::string problem;
  for (const auto& request : finding.requests) {
    const Answer answer = send(api, request);
    problem = request.target == "/livez" && answer.code == 200 ? std::string() : problem_of(answer);
  }
  return problem;
}

}  // namespace backplane::conformance
