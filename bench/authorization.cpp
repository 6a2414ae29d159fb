// backplane-bench-authorization [BINDINGS]: the cost of a decision of the RBAC authorizer and of a change of its policy, and the memory of
// a binding.
//
// It needs no server.  It measures the default roles alone, then with BINDINGS bindings (default: 10,000) of each of several shapes.
#include <malloc.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "bootstrap.hpp"
#include "compiled_policy.hpp"

namespace {

using namespace backplane;
using namespace backplane::rbac;

// The CPU time of this thread; unlike elapsed time, it does not include that of other processes.
std::chrono::nanoseconds spent_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

// The nanoseconds of one call: the average over a quarter of a second of calls.
template <class Call>
double nanoseconds(const Call& call) {
  const auto begin = spent_time();
  std::size_t calls = 0;
  std::chrono::nanoseconds spent{};
  do {
    for (int i = 0; i < 64; ++i, ++calls) call(calls);
    spent = spent_time() - begin;
  } while (spent < std::chrono::milliseconds(250));
  return static_cast<double>(spent.count()) / static_cast<double>(calls);
}

std::size_t used_memory() { return mallinfo2().uordblks; }

void put_subjects(const Object& binding, BindingSource& source) {
  each(binding, "subjects", [&](const Object& subject, std::size_t) {
    const std::string_view kind = get_string(subject, "kind");
    const auto of = kind == "User" ? SubjectKind::kUser : kind == "Group" ? SubjectKind::kGroup : SubjectKind::kServiceAccount;
    source.subjects.push_back({of, get_string(subject, "name"), get_string(subject, "namespace")});
  });
}

std::unique_ptr<CompiledPolicy> default_policy() {
  auto out = std::make_unique<CompiledPolicy>();
  const BootstrapPolicy defaults([](std::string_view) { return true; });
  for (std::size_t i = 0; i < defaults.size(); ++i) {
    const Delivered each = defaults.at(i);
    if (each.resource == kClusterRoles || each.resource == kRoles) {
      out->put_role(each.ns, each.name, rules_of(each.object));
      continue;
    }
    const Object& role = object_or_empty(each.object, "roleRef");
    BindingSource source{each.ns, each.name, get_string(role, "kind"), get_string(role, "name"), {}};
    put_subjects(each.object, source);
    out->put_binding(source);
  }
  out->open();
  return out;
}

AuthorizationAttributes request(std::string user, std::vector<std::string> groups, std::string verb, std::string group,
                                std::string resource, std::string ns) {
  AuthorizationAttributes out;
  UserInfo info;
  info.name = std::move(user);
  info.groups = std::move(groups);
  out.user = UserRef(std::move(info));
  out.verb = std::move(verb);
  out.resource_request = true;
  out.api_group = std::move(group);
  out.resource = std::move(resource);
  out.ns = std::move(ns);
  return out;
}

void measure(const CompiledPolicy& policy, const char* what, const AuthorizationAttributes& wanted) {
  const RequestView view(wanted);
  bool allowed = false;
  const double time = nanoseconds([&](std::size_t) { allowed = policy.decide(view).decision == Decision::kAllow; });
  std::printf("%10.0f ns  %s: %s\n", time, what, allowed ? "allowed" : "refused");
}

void measure_all(const CompiledPolicy& policy) {
  const std::vector<std::string> accounts{"system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"};
  measure(policy, "kube-scheduler lists pods", request("system:kube-scheduler", {"system:authenticated"}, "list", "", "pods", ""));
  measure(policy, "the deployment controller's account updates a replica set",
          request("system:serviceaccount:kube-system:deployment-controller", accounts, "update", "apps", "replicasets", "default"));
  measure(policy, "a user without roles gets a secret", request("jane", {"devs", "system:authenticated"}, "get", "", "secrets", "default"));
  measure(policy, "user u77 gets a secret", request("u77", {"devs", "system:authenticated"}, "get", "", "secrets", "n77"));
  AuthorizationAttributes health;
  UserInfo anonymous;
  anonymous.name = "system:anonymous";
  anonymous.groups = {"system:unauthenticated"};
  health.user = UserRef(std::move(anonymous));
  health.verb = "get";
  health.path = "/healthz";
  measure(policy, "anonymous gets /healthz", health);
}

// What the bindings of a measurement have in common.
struct Shape {
  const char* name;
  bool namespaces, users, roles;  // true: each binding has a different one
};
constexpr Shape kShapes[] = {{"each binding in another namespace, for another user", true, true, false},
                             {"all bindings in one namespace, each for another user", false, true, false},
                             {"all bindings in one namespace, for one user and one role", false, false, false},
                             {"all bindings in one namespace, for one user, each of another role", false, false, true}};

void add(CompiledPolicy& policy, const Shape& shape, int i) {
  const std::string number = std::to_string(i), name = "binding-" + number, ns = shape.namespaces ? "n" + number : "n77",
                    user = shape.users ? "u" + number : "u77", role = shape.roles ? "role-" + number : "view";
  if (shape.roles) policy.put_role(ns, role, {{{"get", "list"}, {""}, {"configmaps"}, {}, {}}});
  policy.put_binding({ns, name, shape.roles ? "Role" : "ClusterRole", role, {{SubjectKind::kUser, user, {}}}});
}

void measure(const Shape& shape, int bindings) {
  const auto policy = default_policy();
  const std::size_t before = used_memory();
  const auto begin = spent_time();
  for (int i = 0; i < bindings; ++i) add(*policy, shape, i);
  const double loading = static_cast<double>((spent_time() - begin).count()) / bindings;
  std::printf("\n%d bindings: %s\n", bindings, shape.name);
  std::printf("%10.0f bytes of a binding, %.0f ns to add one\n", static_cast<double>(used_memory() - before) / bindings, loading);
  const double change = nanoseconds([&](std::size_t i) { add(*policy, shape, static_cast<int>(i) % bindings); });
  std::printf("%10.0f ns to change a binding\n", change);
  measure_all(*policy);
}

}  // namespace

int main(int count, char** arguments) {
  const int bindings = count > 1 ? std::atoi(arguments[1]) : 10000;
  std::printf("the default roles\n");
  measure_all(*default_policy());
  for (const Shape& shape : kShapes) measure(shape, bindings);
  return 0;
}
