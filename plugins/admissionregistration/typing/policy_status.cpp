#include "typing/policy_status.hpp"

#include "backplane/core/meta.hpp"

namespace backplane::admissionregistration {
namespace {

Object status_of(std::int64_t generation, const std::vector<ExpressionWarning>& warnings) {
  Array list;
  for (const ExpressionWarning& each : warnings) list.push_back(Object{{"fieldRef", each.field_ref}, {"warning", each.warning}});
  Object checking;
  if (!list.empty()) checking.emplace("expressionWarnings", std::move(list));
  return Object{{"observedGeneration", generation}, {"typeChecking", std::move(checking)}};
}

HttpCall apply_call(const std::string& name, Object status) {
  Object applied{{"apiVersion", "admissionregistration.k8s.io/v1"},
                 {"kind", "ValidatingAdmissionPolicy"},
                 {"metadata", Object{{"name", name}}},
                 {"status", std::move(status)}};
  HttpCall call;
  call.method = "PATCH";
  call.target = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/" + name +
                "/status?fieldManager=" + PolicyStatus::kManager + "&force=true";
  call.headers.emplace_back("Content-Type", "application/apply-patch+yaml");
  call.body = to_json(applied);
  return call;
}

}  // namespace

Task<Status> PolicyStatus::reconcile(std::string name) {
  const ObjectRef stored = policies_->indexer().get(name);
  if (stored == nullptr) co_return Status();
  Object policy = decode(*stored, {});
  const std::int64_t generation = get_int(object_or_empty(policy, "metadata"), "generation").value_or(0);
  const std::int64_t observed = get_int(object_or_empty(policy, "status"), "observedGeneration").value_or(0);
  if (generation <= observed) co_return Status();
  TypeChecker checker(types_);
  auto checking = checker.check(std::move(policy));
  const auto warnings = co_await std::move(checking);
  auto applying = api_.request(apply_call(name, status_of(generation, warnings)));
  const auto applied = co_await std::move(applying);
  if (!applied.ok() && applied.status().reason() != Reason::kNotFound) co_return applied.status();
  co_return Status();
}

}  // namespace backplane::admissionregistration
