// Expressions (CEL) as Kubernetes uses them: environments by compatibility version, variables whose types come from schemas, programs that
// are compiled once, checked, priced, and run over trees without copying them.
//
// Thread-safety: types, environments and programs never change; any number of threads may use them.
// Lifetime:      shared; a program keeps its environment, an environment its types.  What is bound to a run must outlive the run.
// Errors:        what is wrong with an expression is text, as upstream prints it; a run that fails says what went wrong.
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

// The definition that a "$ref" names, or null; schemas of custom resources have none.
using Definitions = std::function<const Object*(std::string_view ref)>;

// What an OpenAPI v3 schema declares; null: nothing that expressions may see (no type, items without type, unknown fields alone).
// `resource_root`: apiVersion, kind, metadata.name and metadata.generateName are there whatever the schema says.
TypeRef declare(const Object& schema, bool resource_root, const Definitions& definitions = {});
// Inside a declared type: the property of that name in JSON; of lists and maps, the items.  Null: there is none that expressions may see.
TypeRef property_of(const TypeRef& type, std::string_view json_name);
TypeRef items_of(const TypeRef& type);
// What a library declares ("string", "dyn", "list(string)", "kubernetes.authorization.Authorizer"), lists, maps, an optional value, an
// object.
TypeRef named_type(std::string_view text);
TypeRef list_type(TypeRef items);
TypeRef map_type(TypeRef keys, TypeRef values);
TypeRef optional_type(TypeRef type);
TypeRef object_type(std::string name, std::vector<std::pair<std::string, TypeRef>> fields);
// The same type of values that have so many bytes, items or entries at most; costs are estimated by it.
TypeRef sized_type(const TypeRef& type, std::int64_t max_elements);
// How often something of this type fits into one request: what a rule's cost is multiplied by below unbounded lists and maps.
std::uint64_t max_cardinality(const DeclType& type);

// A member's name as expressions write it ("a__dot__b", "__namespace__"); empty: it cannot be written.  And back; empty: it is no such
// name.
std::string escape(std::string_view name);
std::string unescape(std::string_view name);
// A name that may stand for something in expressions.
bool is_identifier(std::string_view name);

// ---- environments

struct Variable {
  std::string name;
  TypeRef type;
  // Objects of the type are named so in messages; empty: "object".
  std::string type_name = {};
};

// Beyond what the version brings.
struct Extras {
  bool bindings = false;    // cel.bind
  bool json_patch = false;  // JSONPatch{…} and jsonpatch.escapeKey; Object{…}
  bool math = false;
  bool encoders = false;
  bool everything = false;  // what cel-go has beside: for the language's own conformance suite
};

struct EnvironmentOptions {
  unsigned version = 35;  // minor version of Kubernetes that new expressions must be understood by
  bool stored = false;    // whatever any version has allowed: for expressions that are stored already
  std::vector<Variable> variables;
  // Types that expressions can construct by name, beside the variables' own.
  std::vector<TypeRef> types = {};
  Extras extras = {};
  // Namespace that names are looked up in first ("google.protobuf"); Kubernetes has none.
  std::string container = {};
  // Kubernetes' own: list and map literals hold one type, literals of durations, times and patterns are checked.
  bool strict_literals = true;
};

class Program;

// What became of an expression.
struct Compiled {
  std::shared_ptr<const Program> program;  // null: it does not compile
  std::string problems;                    // "ERROR: <input>:1:5: Syntax error: …", the line, and a mark below; empty: none
};

class Environment : public std::enable_shared_from_this<Environment> {
 public:
  static std::shared_ptr<const Environment> make(EnvironmentOptions options);
  ~Environment();

  Compiled compile(std::string_view expression) const;

  struct State;
  explicit Environment(std::unique_ptr<State> state);
  const State& state() const noexcept { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

// ---- programs

struct Cost {
  std::uint64_t min = 0;
  std::uint64_t max = 0;  // all ones: without bound
};

// Limits of runs, as upstream has them.
inline constexpr std::uint64_t kCostPerCall = 1'000'000;
inline constexpr std::uint64_t kCostPerObject = 10'000'000;
inline constexpr std::uint64_t kCostOfMatchConditions = 2'500'000;

class Program {
 public:
  ~Program();
  std::string_view source() const noexcept;
  const Environment& environment() const noexcept;
  // The type of the result as messages print it: "bool", "string", "list(int)", "dyn".
  std::string result_type() const;
  // Whether the variable is used anywhere.
  bool uses(std::string_view variable) const;
  // The most and the least that a run can cost; sizes come from the types of the variables.
  Cost cost() const;

  struct State;
  explicit Program(std::unique_ptr<State> state);
  const State& state() const noexcept { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

// ---- runs

// What only its library can look into (an authorizer): made and read by the evaluator's libraries.
class HostValue {
 public:
  virtual ~HostValue();
};

// What a variable stands for in one run.  Nothing is copied: `tree` is looked at where it lies, as the variable's type says.
struct Binding {
  std::string_view name;
  const Value* tree = nullptr;  // null, and no host: an optional variable has no value
  std::shared_ptr<const HostValue> host = nullptr;
  // The value of an optional variable stands as it is, not as an optional one; without a tree there is no such variable.
  bool bare = false;
};

// What runs may cost together.
struct Budget {
  std::uint64_t left = kCostPerObject;  // each run takes what it has cost
  std::uint64_t per_call = kCostPerCall;
  std::function<bool()> cancelled = {};  // asked after every hundred items of loops; true ends the run
};

struct Outcome {
  enum class End : unsigned char {
    kValue,
    kFailed,     // message: "no such key: a"
    kCallLimit,  // this run would have cost more than a call may
    kNoBudget,   // it has cost more than was left
    kCancelled,
  };
  End end = End::kValue;
  Value value;          // as JSON has it; durations and times as text
  std::string message;  // as upstream prints it
  std::uint64_t cost = 0;
};

Outcome run(const Program& program, std::span<const Binding> bindings, Budget& budget);

}  // namespace BACKPLANE_API
}  // namespace backplane
