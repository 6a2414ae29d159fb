#include "compiled_policy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <set>
#include <thread>

namespace backplane::rbac {
namespace {

using Key = std::pair<std::string, std::string>;  // namespace and name

// The reference model: scans every object, in the order of the names.
struct PlainSubject {
  SubjectKind kind;
  std::string name, ns;
};
struct PlainBinding {
  std::string role_kind, role_name;
  std::vector<PlainSubject> subjects;
};
struct PlainPolicy {
  std::map<Key, PolicyRules> roles;
  std::map<Key, PlainBinding> bindings;
};

bool has(const std::vector<std::string>& list, const std::string& text) { return std::find(list.begin(), list.end(), text) != list.end(); }

bool is_subject(const PlainSubject& subject, const UserInfo& user, const std::string& ns) {
  if (subject.kind == SubjectKind::kUser) return subject.name == user.name;
  if (subject.kind == SubjectKind::kGroup) return has(user.groups, subject.name);
  const std::string& account_ns = subject.ns.empty() ? ns : subject.ns;
  return !account_ns.empty() && user.name == "system:serviceaccount:" + account_ns + ":" + subject.name;
}

bool plain_allows(const PolicyRule& rule, const AuthorizationAttributes& wanted) {
  const auto in = [](const std::vector<std::string>& list, const std::string& text) { return has(list, "*") || has(list, text); };
  if (!in(rule.verbs, wanted.verb)) return false;
  if (!wanted.resource_request) {
    return std::any_of(rule.urls.begin(), rule.urls.end(), [&](std::string url) {
      if (url == wanted.path) return true;
      if (!url.ends_with("*")) return false;
      while (url.ends_with("*")) url.pop_back();
      return wanted.path.starts_with(url);
    });
  }
  const std::string combined = wanted.subresource.empty() ? wanted.resource : wanted.resource + "/" + wanted.subresource;
  const bool resource = in(rule.resources, combined) || (!wanted.subresource.empty() && has(rule.resources, "*/" + wanted.subresource));
  return in(rule.api_groups, wanted.api_group) && resource && (rule.resource_names.empty() || has(rule.resource_names, wanted.name));
}

struct PlainAnswer {
  std::set<std::string> allowing;  // the reasons that name a binding that allows
  std::set<std::string> missing;   // errors of references to missing roles
  std::vector<PolicyRule> rules;
};

std::string reason_of(const Key& key, const PlainBinding& binding, const PlainSubject& subject) {
  const std::string subject_ns = subject.ns.empty() ? key.first : subject.ns;
  const std::string subject_text = subject.kind == SubjectKind::kUser    ? "User \"" + subject.name
                                   : subject.kind == SubjectKind::kGroup ? "Group \"" + subject.name
                                                                         : "ServiceAccount \"" + subject.name + "/" + subject_ns;
  const std::string what = key.first.empty() ? "ClusterRoleBinding \"" + key.second : "RoleBinding \"" + key.second + "/" + key.first;
  return "RBAC: allowed by " + what + "\" of " + binding.role_kind + " \"" + binding.role_name + "\" to " + subject_text + "\"";
}

PlainAnswer scan(const PlainPolicy& policy, const AuthorizationAttributes& wanted) {
  PlainAnswer out;
  for (const auto& [key, binding] : policy.bindings) {
    if (!key.first.empty() && key.first != wanted.ns) continue;
    const auto subject = std::find_if(binding.subjects.begin(), binding.subjects.end(),
                                      [&](const PlainSubject& each) { return is_subject(each, *wanted.user, key.first); });
    if (subject == binding.subjects.end()) continue;
    const auto role = policy.roles.find({binding.role_kind == "ClusterRole" ? "" : key.first, binding.role_name});
    if (role == policy.roles.end()) {
      out.missing.insert((binding.role_kind == "ClusterRole" ? "clusterrole" : "role") + std::string(".rbac.authorization.k8s.io \"") +
                         binding.role_name + "\" not found");
      continue;
    }
    for (const PolicyRule& rule : role->second) {
      out.rules.push_back(rule);
      if (plain_allows(rule, wanted)) out.allowing.insert(reason_of(key, binding, *subject));
    }
  }
  return out;
}

// Changes both policies alike, at random, with so few names that all combinations occur.
class RandomPolicy {
 public:
  explicit RandomPolicy(unsigned seed) : random_(seed) {}
  CompiledPolicy compiled;
  PlainPolicy plain;

  void change() {
    switch (pick(6)) {
      case 0:
      case 1:
        return put_role();
      case 2:
        return remove_role();
      case 3:
        return remove_binding();
      default:
        return put_binding();
    }
  }
  AuthorizationAttributes request() {
    AuthorizationAttributes out;
    UserInfo user;
    user.name = one({"u0", "u1", "system:serviceaccount:n0:a", "system:serviceaccount:n1:a", "system:serviceaccount::a", "g0"});
    for (const char* group : {"g0", "g1", "u0"}) {
      if (pick(3) == 0) user.groups.emplace_back(group);
    }
    out.user = UserRef(std::move(user));
    out.verb = one({"get", "list", "delete"});
    out.resource_request = pick(5) != 0;
    if (out.resource_request) {
      out.api_group = one({"", "apps"});
      out.resource = one({"pods", "secrets"});
      out.subresource = one({"", "", "log", "scale"});
      out.name = one({"", "x", "y"});
      out.ns = one({"", "n0", "n1"});
    } else {
      out.path = one({"/healthz", "/logs", "/logs/a"});
    }
    return out;
  }
  std::size_t pick(std::size_t count) { return random_() % count; }

 private:
  std::string one(std::initializer_list<const char*> texts) { return *(texts.begin() + pick(texts.size())); }
  std::vector<std::string> some(std::initializer_list<const char*> texts) {
    std::vector<std::string> out{one(texts)};
    if (pick(2) == 0) out.push_back(one(texts));
    return out;
  }
  PolicyRule rule(bool cluster) {
    if (cluster && pick(4) == 0) return {some({"get", "*"}), {}, {}, {}, some({"/healthz", "/logs/*", "*"})};
    PolicyRule out{some({"get", "list", "*"}), some({"", "apps", "*"}), some({"pods", "secrets", "pods/log", "*/scale", "*"}), {}, {}};
    if (pick(3) == 0) out.resource_names = some({"x", "y", "z"});
    return out;
  }
  void put_role() {
    const Key key(one({"", "n0", "n1"}), one({"r0", "r1", "r2"}));
    PolicyRules rules;
    for (std::size_t i = pick(3); i > 0; --i) rules.push_back(rule(key.first.empty()));
    plain.roles[key] = rules;
    compiled.put_role(key.first, key.second, rules);
  }
  void remove_role() {
    const Key key(one({"", "n0", "n1"}), one({"r0", "r1", "r2"}));
    plain.roles.erase(key);
    compiled.remove_role(key.first, key.second);
  }
  void put_binding() {
    const Key key(one({"", "n0", "n1"}), one({"b0", "b1", "b2", "b3", "b4", "b5"}));
    PlainBinding binding{key.first.empty() ? "ClusterRole" : one({"Role", "ClusterRole"}), one({"r0", "r1", "r2"}), {}};
    for (std::size_t i = pick(4); i > 0; --i) {
      const auto kind = static_cast<SubjectKind>(pick(3));
      const bool account = kind == SubjectKind::kServiceAccount;
      binding.subjects.push_back({kind, account ? "a" : one({"u0", "u1", "g0", "g1"}), account ? one({"", "n0", "n1"}) : std::string()});
    }
    BindingSource source{key.first, key.second, binding.role_kind, binding.role_name, {}};
    for (const PlainSubject& each : binding.subjects) source.subjects.push_back({each.kind, each.name, each.ns});
    compiled.put_binding(source);
    plain.bindings[key] = std::move(binding);
  }
  void remove_binding() {
    const Key key(one({"", "n0", "n1"}), one({"b0", "b1", "b2", "b3", "b4", "b5"}));
    plain.bindings.erase(key);
    compiled.remove_binding(key.first, key.second);
  }

  std::mt19937 random_;
};

void expect_same(const CompiledPolicy& compiled, const PlainAnswer& plain, const AuthorizationAttributes& wanted) {
  const AuthorizerResult result = compiled.decide(RequestView(wanted));
  ASSERT_EQ(result.decision == Decision::kAllow, !plain.allowing.empty());
  if (result.decision == Decision::kAllow) {
    ASSERT_TRUE(plain.allowing.contains(result.reason)) << result.reason;
  } else if (plain.missing.empty()) {
    ASSERT_EQ(result.reason, "");
  } else {
    for (const std::string& error : plain.missing) ASSERT_NE(result.reason.find(error), std::string::npos) << result.reason;
  }
  UserRules rules = compiled.rules_for(*wanted.user, wanted.ns);
  ASSERT_TRUE(std::is_permutation(rules.rules.begin(), rules.rules.end(), plain.rules.begin(), plain.rules.end()));
  ASSERT_EQ(rules.missing.size(), plain.missing.size());
}

TEST(CompiledPolicy, DecidesAsAPlainScanAfterEachOfTenThousandChanges) {
  std::size_t allowed = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    RandomPolicy world(seed);
    world.compiled.open();
    for (int change = 0; change < 500; ++change) {
      world.change();
      for (int i = 0; i < 5; ++i) {
        const AuthorizationAttributes wanted = world.request();
        const PlainAnswer answer = scan(world.plain, wanted);
        allowed += answer.allowing.empty() ? 0 : 1;
        ASSERT_NO_FATAL_FAILURE(expect_same(world.compiled, answer, wanted)) << "seed " << seed << " change " << change;
      }
    }
  }
  EXPECT_GT(allowed, 2000u) << "the world is too strict to find anything";
  EXPECT_LT(allowed, 40000u) << "the world is too open to find anything";
}

// ---- single cases

AuthorizationAttributes get_pods(std::string user, std::vector<std::string> groups = {}, std::string ns = "n") {
  AuthorizationAttributes out;
  UserInfo info;
  info.name = std::move(user);
  info.groups = std::move(groups);
  out.user = UserRef(std::move(info));
  out.verb = "get";
  out.resource_request = true;
  out.resource = "pods";
  out.ns = std::move(ns);
  return out;
}
const PolicyRules kGetPods{{{"get"}, {""}, {"pods"}, {}, {}}};

std::string reason(const CompiledPolicy& policy, const AuthorizationAttributes& wanted) {
  return policy.decide(RequestView(wanted)).reason;
}

TEST(CompiledPolicy, HasNoOpinionBeforeItIsOpened) {
  CompiledPolicy policy;
  policy.put_role("", "r", kGetPods);
  policy.put_binding({"", "b", "ClusterRole", "r", {{SubjectKind::kUser, "u", {}}}});
  EXPECT_EQ(policy.decide(RequestView(get_pods("u"))).decision, Decision::kNoOpinion);
  EXPECT_TRUE(policy.rules_for(*get_pods("u").user, "n").rules.empty());
  policy.open();
  EXPECT_EQ(reason(policy, get_pods("u")), R"(RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to User "u")");
}

TEST(CompiledPolicy, ClusterRoleBindingsAreReportedBeforeRoleBindings) {
  CompiledPolicy policy;
  policy.open();
  policy.put_role("n", "r", kGetPods);
  policy.put_role("", "r", kGetPods);
  policy.put_binding({"n", "b", "Role", "r", {{SubjectKind::kServiceAccount, "a", {}}}});
  const auto wanted = get_pods("system:serviceaccount:n:a", {"g"});
  EXPECT_EQ(reason(policy, wanted), R"(RBAC: allowed by RoleBinding "b/n" of Role "r" to ServiceAccount "a/n")");
  policy.put_binding({"", "z", "ClusterRole", "r", {{SubjectKind::kGroup, "g", {}}}});
  EXPECT_EQ(reason(policy, wanted), R"(RBAC: allowed by ClusterRoleBinding "z" of ClusterRole "r" to Group "g")");
}

TEST(CompiledPolicy, RefusalsListMissingRolesOnce) {
  CompiledPolicy policy;
  policy.open();
  policy.put_binding({"", "b", "ClusterRole", "gone", {{SubjectKind::kUser, "u", {}}}});
  policy.put_binding({"", "c", "ClusterRole", "gone", {{SubjectKind::kUser, "u", {}}}});
  EXPECT_EQ(reason(policy, get_pods("u")), R"(RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found)");
  policy.put_binding({"n", "d", "Role", "r\"", {{SubjectKind::kUser, "u", {}}}});
  EXPECT_EQ(reason(policy, get_pods("u")),
            R"(RBAC: [clusterrole.rbac.authorization.k8s.io "gone" not found, role.rbac.authorization.k8s.io "r\"" not found])");
  EXPECT_EQ(reason(policy, get_pods("u", {}, "m")), R"(RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found)");
  EXPECT_EQ(reason(policy, get_pods("v")), "");
}

TEST(CompiledPolicy, SubjectsOfOtherKindsWithTheSameNameAreNotTheUser) {
  CompiledPolicy policy;
  policy.open();
  policy.put_role("", "r", kGetPods);
  policy.put_binding({"", "b", "ClusterRole", "r", {{SubjectKind::kGroup, "u", {}}, {SubjectKind::kServiceAccount, "u", "n"}}});
  EXPECT_EQ(policy.decide(RequestView(get_pods("u"))).decision, Decision::kNoOpinion);
  EXPECT_EQ(policy.decide(RequestView(get_pods("v", {"u"}))).decision, Decision::kAllow);
}

TEST(CompiledPolicy, OneUserMayHaveThousandsOfRoles) {
  CompiledPolicy policy;
  policy.open();
  constexpr int kCount = 3000;
  const auto name = [](int i) { return "r" + std::to_string(i); };
  for (int i = 0; i < kCount; ++i) {
    policy.put_role("n", name(i), {{{"get"}, {""}, {"pods"}, {"p" + std::to_string(i)}, {}}});
    policy.put_binding({"n", name(i), "Role", name(i), {{SubjectKind::kUser, "u", {}}}});
  }
  const auto ask = [&](int i) {
    AuthorizationAttributes wanted = get_pods("u");
    wanted.name = "p" + std::to_string(i);
    return policy.decide(RequestView(wanted));
  };
  for (int i = 0; i < kCount; i += 97) EXPECT_EQ(ask(i).decision, Decision::kAllow) << i;
  EXPECT_EQ(ask(kCount).decision, Decision::kNoOpinion);
  // A change of a role whose bindings are in a long list.
  policy.put_role("n", name(7), {{{"get"}, {""}, {"pods"}, {"p" + std::to_string(kCount)}, {}}});
  EXPECT_EQ(ask(7).decision, Decision::kNoOpinion);
  EXPECT_EQ(ask(kCount).reason, R"(RBAC: allowed by RoleBinding "r7/n" of Role "r7" to User "u")");
  policy.remove_role("n", name(7));
  EXPECT_EQ(ask(kCount).reason, R"(RBAC: role.rbac.authorization.k8s.io "r7" not found)");
  for (int i = 0; i < kCount; ++i) policy.remove_binding("n", name(i));
  for (int i = 0; i < kCount; i += 97) EXPECT_EQ(ask(i).decision, Decision::kNoOpinion) << i;
  EXPECT_EQ(ask(kCount).reason, "");
}

TEST(CompiledPolicy, DecisionsWhileRolesAndBindingsChange) {
  CompiledPolicy policy;
  policy.open();
  policy.put_role("", "kept", kGetPods);
  policy.put_binding({"", "kept", "ClusterRole", "kept", {{SubjectKind::kUser, "u", {}}}});
  std::atomic<bool> done{false};
  std::atomic<std::size_t> refused{0}, decisions{0};
  const auto read = [&] {
    const AuthorizationAttributes mine = get_pods("u"), other = get_pods("v", {"g"});
    do {
      refused += policy.decide(RequestView(mine)).decision == Decision::kAllow ? 0 : 1;
      (void)policy.decide(RequestView(other));
      (void)policy.rules_for(*other.user, "n");
      ++decisions;
    } while (!done);
  };
  std::thread one(read), two(read);
  for (int i = 0; i < 20000; ++i) {
    policy.put_role("n", "r", i % 2 == 0 ? kGetPods : PolicyRules());
    policy.put_binding({"n", "b" + std::to_string(i % 7), "Role", "r", {{SubjectKind::kGroup, "g", {}}, {SubjectKind::kUser, "u", {}}}});
    if (i % 3 == 0) policy.remove_binding("n", "b" + std::to_string(i % 5));
    if (i % 11 == 0) policy.remove_role("n", "r");
  }
  done = true;
  one.join();
  two.join();
  EXPECT_EQ(refused, 0u);
  EXPECT_GT(decisions, 0u);
}

}  // namespace
}  // namespace backplane::rbac
