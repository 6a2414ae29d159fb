// The nodes of a plan, and the state of one run.
//
// Thread-safety: nodes are immutable; a Run belongs to one thread.
// Lifetime:      of values: see value.hpp.
// Errors:        errors of the expression are values; Halted (arena.hpp) ends a run that costs too much.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "cel/functions.hpp"
#include "cel/run_cost.hpp"
#include "cel/value.hpp"

namespace backplane::cel_detail {

class Fold;
struct Run;

class Node {
 public:
  virtual ~Node();
  virtual Val eval(Run& run) const = 0;
};
using NodePtr = std::unique_ptr<const Node>;

// A variable of a comprehension.  The initial value of an accumulator is evaluated at its first read.
struct Local {
  Val value;
  const Fold* pending = nullptr;
};

struct Run {
  explicit Run(Arena& memory) noexcept : arena(memory) {}

  Arena& arena;
  std::span<const Val> variables;
  std::span<Local> locals;
  std::uint64_t cost = 0;
  std::uint64_t limit = 0;
  const std::function<bool()>* cancelled = nullptr;  // null: the run cannot be cancelled
  unsigned iterations = 0;

  void charge(std::uint64_t amount) {
    cost += amount;
    if (cost > limit) throw Halted{Halt::kCost};
  }
  // Called once per item of a comprehension.
  void step() {
    constexpr unsigned kEvery = 100;
    if (++iterations % kEvery == 0 && cancelled != nullptr && (*cancelled)()) throw Halted{Halt::kCancelled};
  }
};

// The value of an unbound variable.
bool is_unbound(const Val& value) noexcept;
Val unbound(std::string_view name) noexcept;

class Constant final : public Node {
 public:
  explicit Constant(const Val& value) : value_(value) {}
  const Val& value() const noexcept { return value_; }
  Val eval(Run&) const override { return value_; }

 private:
  Val value_;
};

class AndOr final : public Node {
 public:
  // `stop`: the operand's value that ends the evaluation.
  AndOr(std::vector<NodePtr> terms, bool stop) : terms_(std::move(terms)), stop_(stop) {}
  Val eval(Run& run) const override;

 private:
  std::vector<NodePtr> terms_;
  bool stop_;
};

// @not_strictly_false
class NotFalse final : public Node {
 public:
  explicit NotFalse(NodePtr term) : term_(std::move(term)) {}
  Val eval(Run& run) const override;

 private:
  NodePtr term_;
};

// x.or(y), x.orValue(y)
class OptionalOr final : public Node {
 public:
  OptionalOr(NodePtr first, NodePtr second, bool unwrap) : first_(std::move(first)), second_(std::move(second)), unwrap_(unwrap) {}
  Val eval(Run& run) const override;

 private:
  NodePtr first_, second_;
  bool unwrap_;
};

// x in ['a', 'b']: the list is a map of its items.
class InConstant final : public Node {
 public:
  InConstant(NodePtr item, const Val& items) : item_(std::move(item)), items_(items) {}
  Val eval(Run& run) const override;

 private:
  NodePtr item_;
  Val items_;
};

class Invocation final : public Node {
 public:
  struct Candidate {
    const Overload* overload;
    Function function;
  };
  // The error if no overload matches. kWhole: "no such overload: f(int)". kPlain: "no such overload". kReceiver: "no such overload: f" if
  // the first argument does not match.
  enum class Refusal : unsigned char { kWhole, kPlain, kReceiver };
  struct Spec {
    std::string_view function;
    std::vector<NodePtr> arguments;
    Function fixed = nullptr;           // accepts any arguments
    std::vector<Candidate> candidates;  // the first matching overload is called
    bool guarded = false;               // whether the arguments must be checked
    Refusal refusal = Refusal::kWhole;
    bool early = false;           // the first error ends the call before the other arguments are evaluated
    CostFunction cost = nullptr;  // null: the call costs 1
    std::unique_ptr<const re2::RE2> pattern;
  };
  explicit Invocation(Spec spec);
  ~Invocation() override;
  Val eval(Run& run) const override;

 private:
  Val invoke(Run& run, std::span<const Val> arguments) const;
  Spec spec_;
};

class MakeList final : public Node {
 public:
  struct Item {
    NodePtr node;
    bool optional = false;
  };
  explicit MakeList(std::vector<Item> items) : items_(std::move(items)) {}
  Val eval(Run& run) const override;

 private:
  std::vector<Item> items_;
};

class MakeMap final : public Node {
 public:
  struct Item {
    NodePtr key;  // a constant if a message is made
    NodePtr value;
    bool optional = false;
  };
  // `type_name`: the name of the message; empty: a map is made.
  MakeMap(std::vector<Item> items, std::string_view type_name) : items_(std::move(items)), type_name_(type_name) {}
  Val eval(Run& run) const override;

 private:
  std::vector<Item> items_;
  std::string_view type_name_;
};

class Fold final : public Node {
 public:
  struct Spec {
    NodePtr range, init, condition, step, result;
    std::size_t first = 0, second = 0, accumulator = 0;  // indexes of locals
    bool two = false;
    bool collects = false;  // the accumulator starts as an empty list or map, to which `step` appends in place
  };
  explicit Fold(Spec spec) : spec_(std::move(spec)) {}
  Val eval(Run& run) const override;
  // Evaluates the initial value of the accumulator; called at its first read.
  const Val& start(Run& run) const;

 private:
  // False: the loop is over.
  bool item(Run& run, const Val& first, const Val* second) const;
  void loop(Run& run, const Val& range) const;
  Spec spec_;
};

// ---- attributes: a value and a path into it, evaluated together

class Attribute;

struct Qualifier {
  Val key;                                    // a constant, or
  std::shared_ptr<const Attribute> computed;  // a node that computes the key
  const cel::DeclType* object = nullptr;      // set if the key is the name of a declared field
  const cel::DeclField* field = nullptr;
  bool optional = false;
  bool test_only = false;
};

class Attribute {
 public:
  enum class Base : unsigned char { kVariable, kLocal, kNode, kConditional };
  Base base = Base::kVariable;
  std::size_t slot = 0;
  NodePtr node;  // kNode; the condition of kConditional
  std::unique_ptr<Attribute> truthy, falsy;
  std::vector<std::shared_ptr<const Qualifier>> qualifiers;

  void add(const std::shared_ptr<const Qualifier>& qualifier);
  Val resolve(Run& run) const;

 private:
  Val walk(Run& run, Val value) const;
};

class Access final : public Node {
 public:
  explicit Access(Attribute attribute) : attribute_(std::move(attribute)) {}
  // Converts a node to an Access, to which qualifiers can be added.
  static std::unique_ptr<Access> of(NodePtr node);
  Attribute& attribute() noexcept { return attribute_; }
  void make_test() noexcept { test_only_ = true; }
  Val eval(Run& run) const override;

 private:
  Attribute attribute_;
  bool test_only_ = false;
};

}  // namespace backplane::cel_detail
