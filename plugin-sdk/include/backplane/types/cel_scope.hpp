// One evaluation of a policy's expressions. A Scope contains the values of their variables, and the policy's own variables. Each of the
// policy's variables is evaluated when it is first used, and then cached.
//
//   cel::Scope scope(bindings, variables);
//   cel::Budget budget;
//   for (const auto& program : validations) results.push_back(scope.run(*program, budget));
//
// Bound trees are read as untyped values, not with the type that the environment declares: upstream binds untyped maps.
//
// Thread-safety: a Scope belongs to one thread at a time.
// Lifetime:      bound trees, hosts, variables and programs outlive the scope. Outcomes are independent of it.
// Errors:        the Outcome contains them; run() throws only std::bad_alloc.
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

// The value of a variable of the environment: an object, any other tree, or a HostValue. If all three are null, the value is null.
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
  std::string problem = {};                // the compile error, if `program` is null
};

// A value in an Object{…} that upstream does not represent as JSON (null, bytes, a timestamp): its path, and its text in Go.
struct GoValue {
  std::vector<std::string> path;   // members by name, items by index
  std::string text, syntax, type;  // the outputs of Go's verbs %v, %#v and %T
};

class Scope {
 public:
  // `cancelled`: replaces Budget::cancelled in every run.
  Scope(std::span<const ScopeBinding> bindings, std::span<const ScopeVariable> variables, const std::function<bool()>* cancelled = nullptr);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  // Evaluates the program. The cost includes that of the policy's variables that it uses first. Each of these variables has its own limit
  // of Budget::per_call. Budget::cancelled is ignored.
  Outcome run(const Program& program, Budget& budget);
  // Like run(), for an expression whose result is an Object{…}. The value of the Outcome is the object as JSON. `go_values` receives the
  // values of the object that upstream does not represent as JSON; in the Outcome they are null, base64 and RFC 3339 text.
  // Errors: kFailed if the type names in the object do not match its fields ("type mismatch: …").
  Outcome run_object(const Program& program, Budget& budget, std::vector<GoValue>* go_values = nullptr);
  // Like run(), for an expression whose result is a list of JSONPatch{…}. The value of the Outcome is the list of operations (RFC 6902).
  Outcome run_patch(const Program& program, Budget& budget);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// True if the expression may read the member at `path` of one of the variables, or an object that contains this member. For
// metadata.managedFields, `object.metadata` returns true and `object.metadata.name` returns false.
bool may_read(const Program& program, std::initializer_list<std::string_view> variables, std::initializer_list<std::string_view> path);

}  // namespace BACKPLANE_API
}  // namespace backplane
