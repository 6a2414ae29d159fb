// authorizer.group('').resource('pods').check('list').allowed()
#include "backplane/types/names.hpp"
#include "cel/functions.hpp"
#include "cel/library_values.hpp"

namespace backplane::cel_detail {
namespace {

bool is_blank(std::string_view text) noexcept { return text.find_first_not_of(" \t\n\v\f\r") == std::string_view::npos; }

CheckVal check_of(OpaqueKind kind, const AuthorizerVal& authorizer) {
  CheckVal out{};
  out.kind = kind;
  out.authorizer = authorizer;
  return out;
}
Val kept(Call& call, const CheckVal& check) { return opaque_val(call.arena.keep(check)); }

Val path(Call& call) {
  if (is_blank(call.text(1))) return error_val("path must not be empty");
  CheckVal out = check_of(OpaqueKind::kPathCheck, as<AuthorizerVal>(call[0]));
  out.path = call.text(1);
  return kept(call, out);
}

Val group(Call& call) {
  CheckVal out = check_of(OpaqueKind::kGroupCheck, as<AuthorizerVal>(call[0]));
  out.group = call.text(1);
  return kept(call, out);
}

Val service_account(Call& call) {
  if (!check_name(NameRule::kDnsSubdomain, call.text(2), false).empty()) return error_val("Invalid service account name");
  if (!check_name(NameRule::kDnsLabel, call.text(1), false).empty()) return error_val("Invalid service account namespace");
  AuthorizerVal out = as<AuthorizerVal>(call[0]);
  out.account_namespace = call.text(1);
  out.account = call.text(2);
  return opaque_val(call.arena.keep(out));
}

Val resource(Call& call) {
  if (is_blank(call.text(1))) return error_val("resource must not be empty");
  CheckVal out = as<CheckVal>(call[0]);
  out.kind = OpaqueKind::kResourceCheck;
  out.resource = call.text(1);
  return kept(call, out);
}

// A copy of the check with one more attribute.
template <std::string_view CheckVal::*kMember>
Val with(Call& call) {
  CheckVal out = as<CheckVal>(call[0]);
  out.*kMember = call.text(1);
  return kept(call, out);
}

Val check(Call& call) {
  const CheckVal& asked = as<CheckVal>(call[0]);
  cel::AccessQuestion question;
  question.account_namespace = asked.authorizer.account_namespace;
  question.account = asked.authorizer.account;
  question.verb = call.text(1);
  question.resource_request = asked.kind == OpaqueKind::kResourceCheck;
  question.path = asked.path;
  question.group = asked.group;
  question.resource = asked.resource;
  question.subresource = asked.subresource;
  question.namespace_name = asked.namespace_name;
  question.name = asked.name;
  question.field_selector = asked.field_selector;
  question.label_selector = asked.label_selector;
  const cel::AccessAnswer answer = asked.authorizer.authorizer->check(question);
  DecisionVal out{};
  out.kind = OpaqueKind::kDecision;
  out.allowed = answer.allowed;
  out.errored = !answer.error.empty();
  out.reason = call.arena.keep_text(answer.reason);
  out.error = call.arena.keep_text(answer.error);
  return opaque_val(call.arena.keep(out));
}

Val allowed(Call& call) { return bool_val(as<DecisionVal>(call[0]).allowed); }
Val errored(Call& call) { return bool_val(as<DecisionVal>(call[0]).errored); }
Val error(Call& call) { return string_val(as<DecisionVal>(call[0]).error); }
Val reason(Call& call) { return string_val(as<DecisionVal>(call[0]).reason); }

constexpr Implementation kFunctions[] = {
    {"authorizer_path", path},
    {"authorizer_group", group},
    {"authorizer_serviceaccount", service_account},
    {"groupcheck_resource", resource},
    {"resourcecheck_subresource", with<&CheckVal::subresource>},
    {"resourcecheck_namespace", with<&CheckVal::namespace_name>},
    {"resourcecheck_name", with<&CheckVal::name>},
    {"authorizer_fieldselector", with<&CheckVal::field_selector>},
    {"authorizer_labelselector", with<&CheckVal::label_selector>},
    {"pathcheck_check", check},
    {"resourcecheck_check", check},
    {"decision_errored", errored},
    {"decision_error", error},
    {"decision_allowed", allowed},
    {"decision_reason", reason},
};

}  // namespace

std::span<const Implementation> authorizer_functions() { return kFunctions; }

Equal equal_opaque(const Opaque& a, const Opaque& b) {
  if (a.kind != b.kind) return Equal::kNoOverload;
  const auto yes = [](bool answer) { return answer ? Equal::kYes : Equal::kNo; };
  switch (a.kind) {
    case OpaqueKind::kUrl:
      return yes(url_text(static_cast<const UrlVal&>(a)) == url_text(static_cast<const UrlVal&>(b)));
    case OpaqueKind::kQuantity:
      return yes(compare_quantity(static_cast<const QuantityVal&>(a), static_cast<const QuantityVal&>(b)) == 0);
    case OpaqueKind::kIp: {
      const auto &x = static_cast<const IpVal&>(a), &y = static_cast<const IpVal&>(b);
      return yes(x.size == y.size && x.bytes == y.bytes);
    }
    case OpaqueKind::kCidr: {
      const auto &x = static_cast<const CidrVal&>(a), &y = static_cast<const CidrVal&>(b);
      return yes(x.bits == y.bits && x.address.size == y.address.size && x.address.bytes == y.address.bytes);
    }
    case OpaqueKind::kSemver:
      return yes(compare_semver(static_cast<const SemverVal&>(a), static_cast<const SemverVal&>(b)) == 0);
    case OpaqueKind::kFormat:
      return yes(static_cast<const FormatVal&>(a).row == static_cast<const FormatVal&>(b).row);
    default:
      return Equal::kNoOverload;  // checks and decisions cannot be compared
  }
}

std::uint64_t opaque_size(const Opaque& value) noexcept {
  if (value.kind == OpaqueKind::kIp) return static_cast<const IpVal&>(value).size;
  if (value.kind == OpaqueKind::kCidr) return (static_cast<const CidrVal&>(value).bits + 7) / 8;
  return 1;
}

}  // namespace backplane::cel_detail

namespace backplane BACKPLANE_API {
namespace cel BACKPLANE_API {

HostValue::~HostValue() = default;
Authorizer::~Authorizer() = default;
RequestResource::~RequestResource() = default;

RequestResource::RequestResource(std::shared_ptr<const Authorizer> authorizer, std::string group, std::string resource,
                                 std::string subresource, std::string namespace_name, std::string name)
    : authorizer_(std::move(authorizer)),
      group_(std::move(group)),
      resource_(std::move(resource)),
      subresource_(std::move(subresource)),
      namespace_(std::move(namespace_name)),
      name_(std::move(name)) {}

AccessQuestion RequestResource::question() const noexcept {
  AccessQuestion out;
  out.resource_request = true;
  out.group = group_;
  out.resource = resource_;
  out.subresource = subresource_;
  out.namespace_name = namespace_;
  out.name = name_;
  return out;
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
