// CEL expressions as Kubernetes uses them. An environment belongs to a compatibility version and declares variables, whose types come from
// schemas. A program is compiled and type-checked once and has a cost estimate. A run evaluates it on JSON trees without copying them.
//
//   auto environment = cel::Environment::make({.variables = {{"self", cel::declare(schema, true)}}});
//   cel::Compiled compiled = environment->compile("self.spec.replicas <= 10");
//   if (compiled.program == nullptr) report(compiled.problems);
//   cel::Budget budget;
//   const cel::Binding self{"self", &tree};
//   const cel::Outcome outcome = cel::run(*compiled.program, {&self, 1}, budget);
//
// Thread-safety: types, environments and programs are immutable; any number of threads may use them.
// Lifetime:      shared ownership; a program owns its environment, an environment its types. Bound trees must outlive the run.
// Errors:        errors in an expression have upstream's text. The Outcome of a run that fails contains the message.
// Source:        k8s.io/apiserver/pkg/cel and github.com/google/cel-go.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane {
namespace cel BACKPLANE_API {

// ---- types

struct DeclType;
using TypeRef = std::shared_ptr<const DeclType>;

// Resolves a "$ref" to its definition; null if there is no such definition. Schemas of custom resources have no references.
using Definitions = std::function<const Object*(std::string_view ref)>;

// Returns the type that an OpenAPI v3 schema declares; null if expressions cannot access the value (no type, items without type, only
// unknown fields). `resource_root`: apiVersion, kind, metadata.name and metadata.generateName exist regardless of the schema.
TypeRef declare(const Object& schema, bool resource_root, const Definitions& definitions = {});
// Return the type of a property by its JSON name (property_of), or of the items of a list or the values of a map (items_of); null if
// expressions cannot access it.
TypeRef property_of(const TypeRef& type, std::string_view json_name);
TypeRef items_of(const TypeRef& type);
// Return the type with a name ("string", "dyn", "list(string)", "kubernetes.authorization.Authorizer"), and types of lists, maps, optional
// values and objects.
TypeRef named_type(std::string_view text);
TypeRef list_type(TypeRef items);
TypeRef map_type(TypeRef keys, TypeRef values);
TypeRef optional_type(TypeRef type);
TypeRef object_type(std::string name, std::vector<std::pair<std::string, TypeRef>> fields);
// Returns the same type with a limit on the number of bytes, items or entries, for the cost estimate.
TypeRef sized_type(const TypeRef& type, std::int64_t max_elements);
// Returns how many values of the type fit into one request. For a rule inside an unbounded list or map, the cost is multiplied by this
// number.
std::uint64_t max_cardinality(const DeclType& type);

// escape() returns a property name as it is written in expressions ("a__dot__b", "__namespace__"); empty if expressions cannot name the
// property. unescape() is the inverse; it returns empty for a name that escape() never returns.
std::string escape(std::string_view name);
std::string unescape(std::string_view name);
// True if `name` can be the name of a variable.
bool is_identifier(std::string_view name);

// ---- environments

// A variable of an environment.
struct Variable {
  std::string name;
  TypeRef type;
  // The name of the object type in messages; empty: "object".
  std::string type_name = {};
};

// Libraries that are available in addition to those of the version.
struct Extras {
  bool bindings = false;    // cel.bind
  bool json_patch = false;  // JSONPatch{…}, jsonpatch.escapeKey and Object{…}
  bool math = false;
  bool encoders = false;
  bool everything = false;  // everything that cel-go offers: for CEL's conformance suite
};

// What the expressions of an environment may use.
struct EnvironmentOptions {
  unsigned version = 35;  // minor version of the Kubernetes release with which new expressions must be compatible
  bool stored = false;    // allow what any version allows: for expressions that are already stored
  std::vector<Variable> variables;
  // Object types that expressions may construct by name, in addition to the types of the variables.
  std::vector<TypeRef> types = {};
  Extras extras = {};
  // The namespace in which names are resolved first ("google.protobuf"); empty in Kubernetes.
  std::string container = {};
  // Kubernetes' restriction: all elements of a list or map literal have the same type, and literals of durations, times and patterns are
  // checked.
  bool strict_literals = true;
};

class Program;

// The result of compiling one expression.
struct Compiled {
  std::shared_ptr<const Program> program;  // null if the expression has errors
  std::string problems;                    // "ERROR: <input>:1:5: Syntax error: …", the line, and a marker; empty: no errors
};

// Declares variables and functions; compiles expressions.
class Environment : public std::enable_shared_from_this<Environment> {
 public:
  static std::shared_ptr<const Environment> make(EnvironmentOptions options);
  ~Environment();

  // Parses and type-checks one expression, and estimates its cost.
  Compiled compile(std::string_view expression) const;

  struct State;
  explicit Environment(std::unique_ptr<State> state);
  const State& state() const noexcept { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

// ---- programs

// An interval of costs, in cel-go's units.
struct Cost {
  std::uint64_t min = 0;
  std::uint64_t max = 0;  // all bits set: unbounded
};

// Upstream's cost limits: kCostPerCall for one evaluation, kCostPerObject for all validation rules of one object, kCostOfMatchConditions
// for the matchConditions of one webhook or policy.
inline constexpr std::uint64_t kCostPerCall = 1'000'000;
inline constexpr std::uint64_t kCostPerObject = 10'000'000;
inline constexpr std::uint64_t kCostOfMatchConditions = 2'500'000;

// A compiled expression.
class Program {
 public:
  ~Program();
  std::string_view source() const noexcept;
  const Environment& environment() const noexcept;
  // The type of the result as messages print it: "bool", "string", "list(int)", "dyn".
  std::string result_type() const;
  // True if the expression uses the variable.
  bool uses(std::string_view variable) const;
  // Lower and upper bound of the cost of a run. Sizes of values are estimated from the types of the variables.
  Cost cost() const;

  struct State;
  explicit Program(std::unique_ptr<State> state);
  const State& state() const noexcept { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

// ---- runs

// A value that only a library of the evaluator can access (an authorizer).
class HostValue {
 public:
  virtual ~HostValue();
};

// The value of a variable in one run. `tree` is not copied; the type of the variable determines how it is read.
struct Binding {
  std::string_view name;
  const Value* tree = nullptr;  // if both this and `host` are null: an optional variable without a value
  std::shared_ptr<const HostValue> host = nullptr;
  // For an optional variable. True: the value is not wrapped in an optional; without a tree, the variable does not exist.
  bool bare = false;
};

// The cost limit that several runs share.
struct Budget {
  std::uint64_t left = kCostPerObject;  // reduced by the cost of each run
  std::uint64_t per_call = kCostPerCall;
  std::function<bool()> cancelled = {};  // called after every hundred loop items; true ends the run
};

// The result of a run.
struct Outcome {
  enum class End : unsigned char {
    kValue,
    kFailed,     // message: "no such key: a"
    kCallLimit,  // the run exceeded Budget::per_call
    kNoBudget,   // the run exceeded Budget::left
    kCancelled,
  };
  End end = End::kValue;
  Value value;          // as JSON; durations and timestamps are strings
  std::string message;  // as upstream prints it
  std::uint64_t cost = 0;
};

// Evaluates the program. Never throws; errors are in the Outcome.
Outcome run(const Program& program, std::span<const Binding> bindings, Budget& budget);

}  // namespace BACKPLANE_API
}  // namespace backplane
