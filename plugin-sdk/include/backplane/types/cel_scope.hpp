// One evaluation of a policy's expressions: the bindings of their variables, and the policy's own variables, each of which is evaluated at
// its first use and then cached.
//
//   cel::Scope scope(bindings, variables);
//   cel::Budget budget;
//   for (const auto& program : validations) results.push_back(scope.run(*program, budget));
//
// Bound trees are read without the type that the environment declares for the name: upstream binds untyped maps.
//
// Thread-safety: a Scope belongs to one thread at a time.
// Lifetime:      bound trees, hosts, variables and programs outlive the scope. Outcomes are independent of it.
// Errors:        in the Outcome; run() throws only std::bad_alloc.
// Source:        k8s.io/apiserver/pkg/admission/plugin/cel (activation.go, composition.go) and pkg/cel/mutation.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/types/cel.hpp"

namespace backplane {
namespace cel BACKPLANE_API {

// The value of a variable of the environment: an object, any other tree, or a value of the host; none of them: null.
struct ScopeBinding {
  std::string_view name;
  const Object* object = nullptr;
  const Value* tree = nullptr;
  const HostValue* host = nullptr;
};

// A member of `variables`.
struct ScopeVariable {
  std::string name;
  std::shared_ptr<const Program> program;  // null: the expression does not compile
  std::string problem = {};                // the reason
};

// A value in an Object{…} that is not JSON for upstream (null, bytes, a timestamp): its path, and its text in Go.
struct GoValue {
  std::vector<std::string> path;   // members by name, items by index
  std::string text, syntax, type;  // %v, %#v and %T
};

class Scope {
 public:
  // `cancelled`: as Budget::cancelled, for every run.
  Scope(std::span<const ScopeBinding> bindings, std::span<const ScopeVariable> variables, const std::function<bool()>* cancelled = nullptr);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  // Evaluates the program. Its cost includes that of the variables which it is the first to use; each of these has the limit of a call for
  // itself. Budget::cancelled is ignored.
  Outcome run(const Program& program, Budget& budget);
  // The same for an expression whose result is an Object{…}. The value is the object.
  // Errors: kFailed if type names in it do not follow its fields ("type mismatch: …").
  // `go_values`: those of the object, which are JSON in the result (null, base64, RFC 3339).
  Outcome run_object(const Program& program, Budget& budget, std::vector<GoValue>* go_values = nullptr);
  // The same for an expression whose result is a list of JSONPatch{…}. The value is the list of operations (RFC 6902).
  Outcome run_patch(const Program& program, Budget& budget);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// True if the expression may read the member at `path` of one of the variables, or anything that contains it: `object.metadata` may read
// metadata.managedFields, `object.metadata.name` does not.
bool may_read(const Program& program, std::initializer_list<std::string_view> variables, std::initializer_list<std::string_view> path);

}  // namespace BACKPLANE_API
}  // namespace backplane
