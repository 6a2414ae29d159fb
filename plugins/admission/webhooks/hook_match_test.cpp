#include "webhooks/hook_match.hpp"

#include <gtest/gtest.h>

#include <map>

#include "backplane/core/json_access.hpp"
#include "fake_host.hpp"
#include "webhooks/hook_patch.hpp"
#include "webhooks/hook_selection.hpp"
#include "webhooks/patch_problem.hpp"
#include "webhooks/reinvocation_state.hpp"

namespace backplane::admission::webhooks {
namespace {

using test::FakeHost;

// Deployments of all groups are the same objects, as in upstream's test.
class Deployments final : public EquivalentResources {
 public:
  std::vector<GroupVersionResource> equivalents_of(const GroupVersionResource& resource, std::string_view) const override {
    if (resource.resource == "widgets") return {{"example.com", "v1", "widgets"}, {"example.com", "v2", "widgets"}};
    if (resource.resource != "deployments") return {resource};
    return {{"extensions", "v1beta1", "deployments"},
            {"apps", "v1", "deployments"},
            {"apps", "v1beta1", "deployments"},
            {"apps", "v1alpha1", "deployments"}};
  }
  GroupVersionKind kind_of(const GroupVersionResource& resource, std::string_view subresource) const override {
    if (resource.resource != "deployments") return {};
    if (subresource == "scale" && resource.version == "v1") return {"autoscaling", "v1", "Scale"};
    return {resource.group, resource.version, subresource == "scale" ? "Scale" : "Deployment"};
  }
};

HookRef hook_of(const std::string& rules, bool equivalent, const std::string& more = "{}") {
  auto hook = std::make_shared<Hook>();
  hook->type = HookType::kValidating;
  hook->equivalent = equivalent;
  const Value list = json::parse(rules);
  for (const Value& rule : list.get_array()) {
    hook->rules.push_back(read_resource_rule(rule.get_object()));
    hook->operations |= hook->rules.back().operations;
  }
  const Value parsed = json::parse(more);
  hook->namespaces = read_label_selector(get_object(parsed.get_object(), "namespaceSelector"));
  hook->objects = read_label_selector(get_object(parsed.get_object(), "objectSelector"));
  return hook;
}

std::string rule_text(const char* group, const char* version, const char* resources) {
  return std::string(R"({"operations":["*"],"apiGroups":[")") + group + R"("],"apiVersions":[")" + version + R"("],"resources":[)" +
         resources + R"(],"scope":"*"})";
}

class HookMatchTest : public testing::Test {
 protected:
  HookMatchTest() : informer_(SharedInformer::make("namespaces", nullptr, host_.log)), namespaces_(host_, Lister(informer_)) {
    attributes_.resource = {"apps", "v1", "deployments"};
    attributes_.kind = {"apps", "v1", "Deployment"};
    attributes_.ns = "ns";
    attributes_.name = "name";
  }
  void add_namespace(const std::string& name, const Labels& labels) {
    auto entry = std::make_shared<ObjectEntry>();
    entry->set_identity("", "", name);
    entry->set_labels(labels);
    informer_->indexer().put(entry);
  }
  // "group/version, kind" of the target; empty: no call; the text of an error.
  std::string target(const HookRef& hook) {
    WriteMatch match(resources_, namespaces_, attributes_);
    auto found = match.target_of(*hook);
    if (!found.ok()) return found.status().message();
    if (!*found) return {};
    return (*found)->resource.group + "/" + (*found)->resource.version + ", " + (*found)->kind.group + "/" + (*found)->kind.kind;
  }
  std::string selected(const HookRef& hook, const Object* object) {
    WriteMatch match(resources_, namespaces_, attributes_);
    std::string out = "unfinished";
    host_.turns.start(select(match, *hook, object, out));
    return out;
  }
  static Task<void> select(WriteMatch& match, const Hook& hook, const Object* object, std::string& out) {
    auto selecting = match.selects(hook, object);
    const auto result = co_await std::move(selecting);
    out = !result.ok() ? result.status().message() : (*result ? "yes" : "no");
  }

  static Task<void> ask(Host& host, const Hook& hook, const AdmissionAttributes& attributes, WriteMatch& match, VersionSource& versions,
                        bool& called) {
    auto asking = should_call(host, hook, attributes, match, versions, nullptr);
    const auto target = co_await std::move(asking);
    called = target.ok() && *target;
  }

  FakeHost host_;
  std::shared_ptr<SharedInformer> informer_;
  NamespaceLabels namespaces_;
  Deployments resources_;
  AdmissionAttributes attributes_;
};

// Cases of upstream's generic/webhook_test.go, TestShouldCallHook.
TEST_F(HookMatchTest, RulesPreferTheRequestedResourceThenEarlierRules) {
  const std::string extensions = rule_text("extensions", "v1beta1", R"("deployments")"),
                    beta = rule_text("apps", "v1beta1", R"("deployments")"), v1 = rule_text("apps", "v1", R"("deployments")"),
                    all = rule_text("*", "*", R"("*")");
  EXPECT_EQ(target(hook_of("[]", true)), "");
  EXPECT_EQ(target(hook_of("[" + all + "]", false)), "apps/v1, apps/Deployment");
  EXPECT_EQ(target(hook_of("[" + extensions + "," + beta + "," + v1 + "]", true)), "apps/v1, apps/Deployment");
  EXPECT_EQ(target(hook_of("[" + extensions + "," + beta + "]", false)), "");
  EXPECT_EQ(target(hook_of("[" + extensions + "," + beta + "]", true)), "extensions/v1beta1, extensions/Deployment");
  EXPECT_EQ(target(hook_of("[" + beta + "," + extensions + "]", true)), "apps/v1beta1, apps/Deployment");
}

TEST_F(HookMatchTest, SubresourcesHaveTheirOwnKinds) {
  attributes_.subresource = "scale";
  attributes_.kind = {"autoscaling", "v1", "Scale"};
  const char* both = R"("deployments","deployments/scale")";
  const std::string extensions = rule_text("extensions", "v1beta1", both), beta = rule_text("apps", "v1beta1", both),
                    v1 = rule_text("apps", "v1", both);
  EXPECT_EQ(target(hook_of("[" + extensions + "," + beta + "," + v1 + "]", true)), "apps/v1, autoscaling/Scale");
  EXPECT_EQ(target(hook_of("[" + extensions + "," + beta + "]", false)), "");
  EXPECT_EQ(target(hook_of("[" + extensions + "," + beta + "]", true)), "extensions/v1beta1, extensions/Scale");
  EXPECT_EQ(target(hook_of("[" + beta + "," + extensions + "]", true)), "apps/v1beta1, apps/Scale");
}

TEST_F(HookMatchTest, AnEquivalentResourceWithoutAKindIsAnError) {
  attributes_.resource = {"example.com", "v2", "widgets"};
  attributes_.kind = {"example.com", "v2", "Widget"};
  EXPECT_EQ(target(hook_of("[" + rule_text("example.com", "v1", R"("widgets")") + "]", true)),
            "Internal error occurred: unable to convert to example.com/v1, Resource=widgets: unknown kind");
}

// Decides only after a wait.
class LateAuthorizer final : public Authorizer {
 public:
  std::string_view name() const noexcept override { return "late"; }
  Task<AuthorizerResult> authorize(const AuthorizationAttributes& attributes) override {
    ++asked;
    last = attributes;
    co_return AuthorizerResult{Decision::kAllow, {}, {}};
  }
  int asked = 0;
  AuthorizationAttributes last;
};

TEST_F(HookMatchTest, ConditionsAskTheAuthorizerAsTheUser) {
  const auto authorizer = std::make_shared<LateAuthorizer>();
  host_.all_authorizers = authorizer;
  UserInfo alice;
  alice.name = "alice";
  attributes_.user = UserRef(std::move(alice));
  attributes_.options = WriteOptions();
  const Value webhook = json::parse(R"j({"matchConditions":[{"name":"c","expression":)j"
                                    R"j("authorizer.group('').resource('pods').fieldSelector('a').check('get').allowed()"}]})j");
  auto hook = std::make_shared<Hook>(*hook_of("[" + rule_text("*", "*", R"("*")") + "]", false));
  hook->conditions = MatchConditions::compile(webhook.get_object());
  WriteMatch match(resources_, namespaces_, attributes_);
  VersionedViews views(host_, attributes_);
  bool called = false;
  host_.turns.start(ask(host_, *hook, attributes_, match, views, called));
  host_.turns.run_until_idle(true);
  EXPECT_TRUE(called);
  EXPECT_EQ(authorizer->asked, 1);
  EXPECT_EQ(authorizer->last.user->name, "alice");
  EXPECT_FALSE(authorizer->last.fields_error.ok()) << "the selector cannot be read";
}

TEST_F(HookMatchTest, NamespaceSelectorsSeeTheNamespace) {
  const HookRef hook = hook_of("[" + rule_text("*", "*", R"("*")") + "]", false, R"({"namespaceSelector":{"matchLabels":{"a":"b"}}})");
  add_namespace("ns", {{"a", "b"}});
  EXPECT_EQ(selected(hook, nullptr), "yes");
  add_namespace("ns", {{"a", "c"}});
  EXPECT_EQ(selected(hook, nullptr), "no");
  attributes_.ns.clear();
  EXPECT_EQ(selected(hook, nullptr), "yes") << "cluster-scoped objects are never exempt";
  // A write of a namespace is matched by the new labels.
  const Value object = json::parse(R"({"metadata":{"name":"ns","labels":{"a":"b"}}})");
  Object changed = object.get_object();
  attributes_.resource = {"", "v1", "namespaces"};
  attributes_.ns = "ns";
  attributes_.object = &changed;
  EXPECT_EQ(selected(hook, &changed), "yes");
  attributes_.operation = AdmissionOperation::kDelete;
  EXPECT_EQ(selected(hook, nullptr), "no") << "a deleted one by its stored labels";
}

TEST_F(HookMatchTest, ObjectSelectorsSeeTheNewAndTheOldObject) {
  const HookRef hook = hook_of("[" + rule_text("*", "*", R"("*")") + "]", false, R"({"objectSelector":{"matchLabels":{"a":"b"}}})");
  const Value with = json::parse(R"({"metadata":{"labels":{"a":"b"}}})"), without = json::parse(R"({"metadata":{}})");
  EXPECT_EQ(selected(hook, &with.get_object()), "yes");
  EXPECT_EQ(selected(hook, &without.get_object()), "no");
  attributes_.old_object = &with.get_object();
  EXPECT_EQ(selected(hook, &without.get_object()), "yes");
  attributes_.old_object = nullptr;
  EXPECT_EQ(selected(hook, nullptr), "no");
  EXPECT_EQ(selected(hook_of("[]", false), nullptr), "yes");
}

TEST_F(HookMatchTest, ASelectorThatDoesNotParseIsAnErrorUnlessTheOtherExcludes) {
  const HookRef hook = hook_of("[]", false,
                               R"({"namespaceSelector":{"matchExpressions":[{"key":"a b","operator":"Exists"}]},
                                   "objectSelector":{"matchLabels":{"a":"b"}}})");
  const Value with = json::parse(R"({"metadata":{"labels":{"a":"b"}}})");
  EXPECT_EQ(selected(hook, nullptr), "no");
  EXPECT_NE(selected(hook, &with.get_object()).find("Internal error occurred: "), std::string::npos);
}

// ---- patches

TEST(HookPatch, IsDecodedAsAListOfOperations) {
  const auto problem = [](std::string_view text) {
    const auto patch = decode_hook_patch(text, json::storage_ptr());
    return patch.ok() ? std::to_string(patch->size()) : patch.status().message();
  };
  EXPECT_EQ(problem("[]"), "0");
  EXPECT_EQ(problem("null"), "0");
  EXPECT_EQ(problem(R"([{"op":"add","path":"/a","value":1}])"), "1");
  EXPECT_EQ(problem("{}"), "json: cannot unmarshal object into Go value of type jsonpatch.Patch");
  EXPECT_EQ(problem("[1]"), "json: cannot unmarshal number into Go value of type jsonpatch.Operation");
  EXPECT_EQ(problem("[null]"), "1");
  EXPECT_EQ(problem("{"), "unexpected end of JSON input");
}

struct ProblemCase {
  const char* operations;
  const char* problem;
};
const ProblemCase kProblems[] = {
    {R"([{"op":"remove","path":"/nothing"}])",
     "error in remove for path: '/nothing': Unable to remove nonexistent key: nothing: missing value"},
    {R"([{"op":"remove","path":"/a/b/c"}])", R"(remove operation does not apply: doc is missing path: "/a/b/c": missing value)"},
    {R"([{"op":"add","path":"/a/b/c","value":1}])", R"(add operation does not apply: doc is missing path: "/a/b/c": missing value)"},
    {R"([{"op":"replace","path":"/a/b/c","value":1}])", "replace operation does not apply: doc is missing path: /a/b/c: missing value"},
    {R"([{"op":"test","path":"/one","value":2}])", "testing value /one failed: test failed"},
    {R"([{"op":"add","path":"/list/7","value":1}])",
     "error in add for path: '/list/7': Unable to access invalid index: 7: invalid index referenced"},
    {R"([{"op":"add","path":"/list/x","value":1}])",
     "error in add for path: '/list/x': value was not a proper array index: 'x': strconv.Atoi: parsing \"x\": invalid syntax"},
    {R"([{"op":"remove","path":"/list/x"}])", "error in remove for path: '/list/x': strconv.Atoi: parsing \"x\": invalid syntax"},
    {R"([{"op":"replace","path":"/list/1","value":1}])", "replace operation does not apply: doc is missing key: /list/1: missing value"},
    {R"([{"op":"test","path":"/two/x","value":2}])", "test operation does not apply: is missing path: /two/x: missing value"},
    {R"([{"op":"test","path":"/list/1","value":2}])",
     "error in test for path: '/list/1': Unable to access invalid index: 1: invalid index referenced"},
    {R"([{"op":"move","from":"/two","path":"/one"}])",
     "error in move for path: 'two': Unable to remove nonexistent key: two: missing value"},
    {R"([{"op":"move","from":"/one","path":"/two/x"}])",
     "move operation does not apply: doc is missing destination path: /two/x: missing value"},
    // The value is removed first: a destination inside it does not exist any more, and a list is shorter.
    {R"([{"op":"move","from":"/list","path":"/list/x"}])",
     "move operation does not apply: doc is missing destination path: /list/x: missing value"},
    {R"([{"op":"move","from":"/list/0","path":"/list/1"}])",
     "error in move for path: '/list/1': Unable to access invalid index: 1: invalid index referenced"},
    {R"([{"op":"move","path":"/one"}])", "move operation failed to decode from: operation, missing from field: missing value"},
    {R"([{"op":"copy","from":"/list/1","path":"/two"}])",
     "error in copy for from: '/list/1': Unable to access invalid index: 1: invalid index referenced"},
    {R"([{"op":"copy","from":"/two/x","path":"/one"}])", "copy operation does not apply: doc is missing from path: /two/x: missing value"},
    {R"([{"op":"add","value":1}])", "add operation failed to decode path: missing value"},
    {R"([{"op":"test","path":7}])", "test operation failed to decode path: json: cannot unmarshal number into Go value of type string"},
    {R"([{"op":"other","path":"/one"}])", "Unexpected kind: other"},
    {R"([{"path":"/one"}])", "Unexpected kind: unknown"},
    {R"([{}])", "Unexpected kind: unknown"},
    {R"([{"op":"add","path":"/two","value":2},{"op":"remove","path":"/three"}])",
     "error in remove for path: '/three': Unable to remove nonexistent key: three: missing value"},
};

TEST(HookPatch, ProblemsHaveTheTextOfJsonPatch) {
  const Value object = json::parse(R"({"one":1,"list":[1]})");
  for (const ProblemCase& each : kProblems) {
    const auto patched = apply_hook_patch(object.get_object(), json::parse(each.operations).get_array());
    ASSERT_FALSE(patched.ok()) << each.operations;
    EXPECT_EQ(patched.status().message(), each.problem);
  }
}

TEST(HookPatch, AnnotationsAreGosJson) {
  const Value operations = json::parse(R"([{"op":"add","path":"/a","value":{"z":1,"b":"<"}}])");
  EXPECT_EQ(
      patch_annotation("c", "w", operations.get_array()),
      R"({"configuration":"c","webhook":"w","patch":[{"op":"add","path":"/a","value":{"z":1,"b":"\u003c"}}],"patchType":"JSONPatch"})");
  EXPECT_EQ(mutation_annotation("c", "w", true), R"({"configuration":"c","webhook":"w","mutated":true})");
}

// ---- reinvocation

TEST(Reinvocation, OnlyWebhooksCalledBeforeAChangeAreCalledAgain) {
  ReinvocationState state;
  const Value object = json::parse(R"({"a":1})"), other = json::parse(R"({"a":2})");
  state.called_reinvocable("one");
  state.require_reinvocation();
  state.called_reinvocable("two");
  EXPECT_TRUE(state.should_reinvoke("one"));
  EXPECT_FALSE(state.should_reinvoke("two"));
  state.set_output(&object.get_object());
  EXPECT_FALSE(state.changed_since_output(&object.get_object()));
  EXPECT_TRUE(state.changed_since_output(&other.get_object()));
  state.require_reinvocation();
  EXPECT_TRUE(state.should_reinvoke("two"));
}

}  // namespace
}  // namespace backplane::admission::webhooks
