#include "audit_targets.hpp"

#include "backplane/kit/audit_event_json.hpp"
#include "backplane/types/json_reading.hpp"
#include "policy_file.hpp"
#include "require.hpp"

namespace backplane::fuzz {
namespace {

AuthorizationAttributes request_of(std::string_view bytes, bool resource) {
  AuthorizationAttributes out;
  const std::string text(bytes.substr(0, 32));
  out.user = UserInfo{text, "", {text, "system:authenticated"}, {}};
  out.verb = "get";
  out.resource_request = resource;
  out.path = "/" + text;
  out.resource = "pods";
  out.subresource = bytes.size() % 2 == 0 ? "log" : "";
  out.ns = "default";
  out.name = text;
  return out;
}

// Checks that JSON in an audit event is on one line and equals the original JSON.
void check_compact(std::string_view bytes) {
  std::string once;
  kit::append_audit_json(once, bytes);
  FUZZ_REQUIRE(once.find('\n') == std::string::npos);
  const auto before = read_json(bytes);
  if (!before) return;
  const auto after = read_json(once);
  FUZZ_REQUIRE(after && *after == *before);
  std::string twice;
  kit::append_audit_json(twice, once);
  FUZZ_REQUIRE(twice == once);
}

}  // namespace

void audit_policy(std::string_view bytes) {
  check_compact(bytes);
  const auto loaded = audit::parse_policy(bytes);
  if (!loaded.ok()) {
    FUZZ_REQUIRE(!loaded.status().message().empty());
    return;
  }
  for (const bool resource : {false, true}) {
    const AuthorizationAttributes request = request_of(bytes, resource);
    const AuditDecision decision = loaded->policy->decide(RequestView(request));
    FUZZ_REQUIRE(decision.level <= AuditLevel::kRequestResponse && decision.omitted_stages < 16);
  }
}

}  // namespace backplane::fuzz
