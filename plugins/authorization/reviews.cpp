#include "reviews.hpp"

#include "attributes.hpp"
#include "backplane/core/json_access.hpp"
#include "backplane/kit/review.hpp"

namespace backplane::authorization {
namespace {

using namespace kit;

constexpr const char* kGroup = "authorization.k8s.io";

// Whose access the review checks: that of any user; that of any user, in the namespace of the review; or that of the caller.
enum class Scope : unsigned char { kAnyUser, kOneNamespace, kSelf };

struct Row {
  const char* resource;
  const char* kind;
  Scope scope;
};
constexpr Row kRows[] = {{"subjectaccessreviews", "SubjectAccessReview", Scope::kAnyUser},
                         {"localsubjectaccessreviews", "LocalSubjectAccessReview", Scope::kOneNamespace},
                         {"selfsubjectaccessreviews", "SelfSubjectAccessReview", Scope::kSelf}};

class AccessReviews final : public ReviewStorage {
 public:
  AccessReviews(const Row& row, Authorizer& authorizer, std::shared_ptr<const SchemaSet> schemas)
      : ReviewStorage({kGroup, "v1", row.kind}, std::move(schemas), row.scope == Scope::kOneNamespace),
        scope_(row.scope),
        authorizer_(authorizer) {}

 protected:
  Status check(const Object& review) const override {
    FieldErrors errors;
    check_all(review, errors);
    return errors.empty() ? Status() : errors.to_status(kGroup, "", "");
  }
  Task<Status> answer(RequestContext& context, Object& review) const override {
    const Object& spec = object_or_empty(review, "spec");
    UserRef user = scope_ == Scope::kSelf ? context.user : UserRef(read_user_info(spec, "user"));
    const AuthorizationAttributes attributes = attributes_of(spec, std::move(user));
    AuthorizerResult result = co_await authorizer_.authorize(attributes);
    Object& status = review["status"].emplace_object();
    status["allowed"] = result.decision == Decision::kAllow;
    status["denied"] = result.decision == Decision::kDeny;
    status["reason"] = result.reason;
    status["evaluationError"] = evaluation_error(result.error, attributes);
    co_return Status();
  }

 private:
  std::string printed(const Object& attributes) const {
    const Schema* type = schema()->property("spec")->property("nonResourceAttributes");
    return to_json(type->go_struct(attributes));
  }

  void check_all(const Object& review, FieldErrors& errors) const {
    const Object& spec = object_or_empty(review, "spec");
    const Object* resource = get_object(spec, "resourceAttributes");
    const Object* other = get_object(spec, "nonResourceAttributes");
    if (resource != nullptr && other != nullptr) {
      errors.invalid_raw("spec.nonResourceAttributes", printed(*other), "cannot be specified in combination with resourceAttributes");
    }
    if (resource == nullptr && other == nullptr) {
      errors.invalid_raw("spec.resourceAttributes", "null", "exactly one of nonResourceAttributes or resourceAttributes must be specified");
    }
    if (scope_ != Scope::kSelf && get_string(spec, "user").empty() && count_of(spec, "groups") == 0) {
      errors.invalid("spec.user", "", "at least one of user or group must be specified");
    }
    check_attributes(spec, errors);
    check_metadata(object_or_empty(review, "metadata"), errors);
    if (scope_ != Scope::kOneNamespace) return;
    if (resource != nullptr && get_string(*resource, "namespace") != meta_namespace(review)) {
      errors.invalid("spec.resourceAttributes.namespace", get_string(*resource, "namespace"), "must match metadata.namespace");
    }
    if (other != nullptr) errors.invalid_raw("spec.nonResourceAttributes", printed(*other), "disallowed on this kind of request");
  }

  // Refuses names, labels and other metadata, because reviews are not stored.
  void check_metadata(const Object& metadata, FieldErrors& errors) const {
    for (const auto& member : metadata) {
      if (member.value().is_null() || member.key() == "managedFields") continue;
      if (scope_ == Scope::kOneNamespace && member.key() == "namespace") continue;
      const std::string_view but = scope_ == Scope::kOneNamespace ? "must be empty except for namespace" : "must be empty";
      errors.invalid_raw("metadata", to_json(metadata), but);
      return;
    }
  }

  const Scope scope_;
  Authorizer& authorizer_;
};

Array texts(const std::vector<std::string>& from) { return Array(from.begin(), from.end()); }

class RulesReviews final : public ReviewStorage {
 public:
  RulesReviews(RuleResolver& rules, std::shared_ptr<const SchemaSet> schemas)
      : ReviewStorage({kGroup, "v1", "SelfSubjectRulesReview"}, std::move(schemas)), rules_(rules) {}

 protected:
  Status check(const Object& review) const override {
    return get_string(object_or_empty(review, "spec"), "namespace").empty() ? bad_request("no namespace on request") : Status();
  }
  // The response does not repeat the spec.
  Task<Status> answer(RequestContext& context, Object& review) const override {
    std::string ns(get_string(object_or_empty(review, "spec"), "namespace"));
    RuleList rules = co_await rules_.rules_for(context.user, std::move(ns));
    review["metadata"].emplace_object();
    review["spec"].emplace_object();
    Object& status = review["status"].emplace_object();
    Array& resource_rules = status["resourceRules"].emplace_array();
    for (const ResourceRule& rule : rules.resource_rules) resource_rules.emplace_back(printed(rule));
    Array& other_rules = status["nonResourceRules"].emplace_array();
    for (const NonResourceRule& rule : rules.non_resource_rules) other_rules.emplace_back(printed(rule));
    status["incomplete"] = rules.incomplete;
    if (!rules.error.ok()) status["evaluationError"] = rules.error.message();
    co_return Status();
  }

 private:
  static Object printed(const ResourceRule& rule) {
    Object out;
    out["verbs"] = texts(rule.verbs);
    out["apiGroups"] = texts(rule.api_groups);
    out["resources"] = texts(rule.resources);
    out["resourceNames"] = texts(rule.resource_names);
    return out;
  }
  static Object printed(const NonResourceRule& rule) {
    Object out;
    out["verbs"] = texts(rule.verbs);
    out["nonResourceURLs"] = texts(rule.paths);
    return out;
  }

  RuleResolver& rules_;
};

}  // namespace

std::map<std::string, std::shared_ptr<RestStorage>> make_reviews(Authorizer& authorizer, RuleResolver& rules,
                                                                 const std::shared_ptr<const SchemaSet>& schemas) {
  std::map<std::string, std::shared_ptr<RestStorage>> out;
  for (const Row& row : kRows) out[row.resource] = std::make_shared<AccessReviews>(row, authorizer, schemas);
  out["selfsubjectrulesreviews"] = std::make_shared<RulesReviews>(rules, schemas);
  return out;
}

}  // namespace backplane::authorization
