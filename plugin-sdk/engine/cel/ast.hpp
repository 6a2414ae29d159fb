// The syntax tree of an expression: macros are expanded, every node has an id, and tables by id hold a node's position in the text, its
// type from the checker, and the reference of its name.
//
// Thread-safety: a finished tree may be read from any thread.
// Lifetime:      nodes, their spans and their texts live as long as their Ast; types and overloads as long as the Ast and its environment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace backplane::cel_detail {

struct Type;
struct Overload;

// Ids begin with 1; 0 means no node.  An id is also an index into the tables of Ast.
using ExprId = std::uint32_t;

enum class ExprKind : unsigned char { kLiteral, kIdent, kSelect, kCall, kList, kMap, kStruct, kComprehension };

enum class LiteralKind : unsigned char { kNull, kBool, kInt, kUint, kDouble, kString, kBytes };

struct Literal {
  LiteralKind kind = LiteralKind::kNull;
  union {
    bool boolean;
    std::int64_t integer = 0;
    std::uint64_t natural;
    double real;
  };
  std::string_view text = {};  // kString (UTF-8), kBytes
};

struct Expr;

// One entry of a map (key) or of a message (field).
struct Entry {
  ExprId id = 0;
  bool optional = false;  // {?key: value}: the entry exists only if the value is present
  Expr* key = nullptr;    // maps
  std::string_view field = {};
  Expr* value = nullptr;
};

// The evaluation: accumulator = init; for each item of range: if (!condition) break; accumulator = step.  The value is `result`.
struct Comprehension {
  Expr* range = nullptr;
  std::string_view variable = {};         // the item; with two variables, the index or key
  std::string_view second_variable = {};  // empty: there is only one variable
  std::string_view accumulator = {};
  Expr* init = nullptr;
  Expr* condition = nullptr;
  Expr* step = nullptr;
  Expr* result = nullptr;
};

// The members that each kind uses:
//   kLiteral        literal
//   kIdent          name
//   kSelect         operand, name; test_only: has(operand.name)
//   kCall           name; operand: the receiver, or null; arguments.  Operators have cel-go's names: "_+_", "_?_:_", "_[_]", "_?._",
//                   "_[?_]", "@in", "!_", "-_", "@not_strictly_false".
//   kList           arguments; optional_indices: those with a question mark
//   kMap            entries
//   kStruct         name of the message; entries
//   kComprehension  comprehension
struct Expr {
  ExprKind kind = ExprKind::kLiteral;
  bool test_only = false;
  ExprId id = 0;
  std::string_view name = {};
  Literal literal = {};
  Expr* operand = nullptr;
  std::span<Expr*> arguments = {};
  std::span<const std::uint32_t> optional_indices = {};
  std::span<Entry> entries = {};
  Comprehension* comprehension = nullptr;
};

// The reference of a name or a call.
struct Reference {
  std::string_view name = {};                  // the qualified name of a variable or a type: "google.protobuf.Timestamp"; empty for calls
  std::span<const Overload* const> overloads;  // for a call: the matching overloads, in the order of their declaration
};

class Ast {
 public:
  explicit Ast(std::string_view source);
  Ast(const Ast&) = delete;
  Ast& operator=(const Ast&) = delete;

  // The text of the expression, owned by the tree.
  std::string_view source() const noexcept { return source_; }
  Expr* root = nullptr;

  // In bytes of the source; for nodes of a macro: the position of the macro's call.
  std::size_t offset(ExprId id) const noexcept { return id < offsets_.size() ? offsets_[id] : 0; }
  // The checker's type; null before the check.
  const Type* type(ExprId id) const noexcept { return id < types.size() ? types[id] : nullptr; }
  const Type* type(const Expr& expr) const noexcept { return type(expr.id); }
  const Reference* reference(ExprId id) const noexcept { return id < references.size() ? references[id] : nullptr; }
  std::size_t ids() const noexcept { return offsets_.size(); }  // all ids are less than this

  // For the parser: makes ids and nodes, and copies texts and lists into the memory of the tree.
  ExprId next_id(std::size_t offset);
  Expr* make(ExprKind kind, ExprId id);
  std::string_view keep(std::string_view text);
  template <class T>
  T* allocate(std::size_t count) {
    return static_cast<T*>(memory_.allocate(count * sizeof(T), alignof(T)));
  }
  std::string_view keep(const char* text) { return keep(std::string_view(text)); }
  std::string_view keep(const std::string& text) { return keep(std::string_view(text)); }
  template <class T>
  std::span<T> keep(const std::vector<T>& items) {
    T* copy = allocate<T>(items.size());
    std::uninitialized_copy(items.begin(), items.end(), copy);
    return {copy, items.size()};
  }
  template <class T>
  T* keep_one(const T& item) {
    return new (allocate<T>(1)) T(item);
  }

  // Number of nodes that macros have copied: each link of a chain of optMap doubles its operand.  Beyond the limit nothing more is
  // copied, and the tree is invalid.
  static constexpr std::size_t kMostCopied = 100'000;
  std::size_t copied = 0;

  // By id; the checker fills both.
  std::vector<const Type*> types;
  std::vector<const Reference*> references;

 private:
  std::pmr::monotonic_buffer_resource memory_;
  std::string_view source_;
  std::vector<std::size_t> offsets_;
};

// Calls `visit(const Expr&)` for the node and all below it, parents first.
template <class Visit>
void each_expr(const Expr& expr, const Visit& visit) {
  visit(expr);
  if (expr.operand != nullptr) each_expr(*expr.operand, visit);
  for (const Expr* argument : expr.arguments) each_expr(*argument, visit);
  for (const Entry& entry : expr.entries) {
    if (entry.key != nullptr) each_expr(*entry.key, visit);
    each_expr(*entry.value, visit);
  }
  if (const Comprehension* loop = expr.comprehension) {
    for (const Expr* part : {loop->range, loop->init, loop->condition, loop->step, loop->result}) each_expr(*part, visit);
  }
}

// "a.b.c" if the node has only names and member selections; empty otherwise.
std::string qualified_name(const Expr& expr);

}  // namespace backplane::cel_detail
