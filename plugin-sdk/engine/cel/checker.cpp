#include "cel/checker.hpp"

#include <algorithm>
#include <optional>

#include "cel/assign.hpp"
#include "cel/literals.hpp"

namespace backplane::cel_detail {
namespace {

std::string quoted_type(const Type& type) { return "'" + to_text(type) + "'"; }

// The type's name without its parameters: "list".
std::string erased(const Type& type) {
  const std::string text = runtime_text(type);
  return text.substr(0, text.find('('));
}

class Checker {
 public:
  Checker(Ast& ast, const Environment::State& environment, TypeArena& arena, Problems& problems)
      : ast_(ast), environment_(environment), arena_(arena), problems_(problems), bindings_(arena) {}

  void run() {
    ast_.types.assign(ast_.ids(), nullptr);
    ast_.references.assign(ast_.ids(), nullptr);
    check(*ast_.root);
    for (const Type*& type : ast_.types) {
      if (type != nullptr) type = bindings_.substitute(type, true);
    }
  }

 private:
  struct Found {
    std::string name;
    const Type* type;
  };

  // ---- names

  std::optional<Found> find_name(std::string_view name) {
    for (std::string& candidate : candidate_names(environment_.options.container, name)) {
      if (const Type* type = find_exactly(candidate)) return Found{std::move(candidate), type};
    }
    return std::nullopt;
  }

  const Type* find_exactly(std::string_view name) {
    for (auto each = locals_.rbegin(); each != locals_.rend(); ++each) {
      if (each->first == name) return each->second;
    }
    if (const auto found = environment_.variables.find(name); found != environment_.variables.end()) return found->second;
    if (const auto found = environment_.types.find(name); found != environment_.types.end()) return arena_.type_of(found->second);
    if (const Type* type = patch_type(environment_, arena_, name)) return arena_.type_of(type);
    if (const Type* type = well_known_type(name)) return arena_.type_of(type);
    return nullptr;
  }

  // The overloads of a function that this environment has; empty: there is no such function.
  std::vector<const Overload*> find_function(std::string_view name) {
    for (const std::string& candidate : candidate_names(environment_.options.container, name)) {
      std::vector<const Overload*> out;
      for (const Overload& each : overloads_of(candidate)) {
        if (environment_.has(each)) out.push_back(&each);
      }
      if (!out.empty()) return out;
    }
    return {};
  }

  // ---- problems

  void fail(ExprId id, std::string text) { problems_.add(ast_.offset(id), std::move(text)); }
  void undeclared(const Expr& expr, std::string_view name) {
    fail(expr.id, "undeclared reference to '" + std::string(name) + "' (in container '" + environment_.options.container + "')");
    set(expr, &kErrorType);
  }
  void mismatch(ExprId id, const Type& expected, const Type& found) {
    fail(id, "expected type " + quoted_type(expected) + " but found " + quoted_type(found));
  }

  // ---- types and references of nodes

  void set(const Expr& expr, const Type* type) { ast_.types[expr.id] = type; }
  const Type* type_of(const Expr& expr) const { return ast_.types[expr.id]; }
  const Type* known(const Type* type) { return bindings_.substitute(type, false); }

  void set_name(Expr& expr, const Found& found) {
    expr.name = ast_.keep(found.name);
    ast_.references[expr.id] = ast_.keep_one(Reference{expr.name, {}});
  }
  void set_overloads(const Expr& expr, const std::vector<const Overload*>& overloads) {
    ast_.references[expr.id] = ast_.keep_one(Reference{{}, ast_.keep(overloads)});
  }

  // ---- nodes

  void check(Expr& expr) {
    switch (expr.kind) {
      case ExprKind::kLiteral:
        return set(expr, literal_type(expr.literal.kind));
      case ExprKind::kIdent:
        return check_ident(expr);
      case ExprKind::kSelect:
        return check_select(expr);
      case ExprKind::kCall:
        return expr.name == "_?._" ? check_optional_select(expr) : check_call(expr);
      case ExprKind::kList:
        return check_list(expr);
      case ExprKind::kMap:
        return check_map(expr);
      case ExprKind::kStruct:
        return check_message(expr);
      case ExprKind::kComprehension:
        return check_loop(expr);
    }
  }

  void check_ident(Expr& expr) {
    const auto found = find_name(expr.name);
    if (!found) return undeclared(expr, expr.name);
    set_name(expr, *found);
    set(expr, found->type);
  }

  void check_select(Expr& expr) {
    if (const std::string whole = qualified_name(expr); !whole.empty()) {
      if (const auto found = find_name(whole)) {
        expr.kind = ExprKind::kIdent;
        expr.operand = nullptr;
        set_name(expr, *found);
        return set(expr, found->type);
      }
    }
    const Type* type = select(expr, *expr.operand, expr.name, false);
    set(expr, known(expr.test_only ? &kBoolType : type));
  }

  void check_optional_select(Expr& expr) {
    Expr& field = *expr.arguments[1];
    set(expr, known(select(expr, *expr.arguments[0], field.literal.text, true)));
    set(field, &kStringType);
    set_overloads(expr, {find_overload("select_optional_field")});
  }

  const Type* select(const Expr& expr, Expr& operand, std::string_view field, bool optional) {
    check(operand);
    const Type* of = known(type_of(operand));
    const bool of_optional = is_optional(*of);
    const Type* type = member_type(expr, of_optional ? of->parameters[0] : of, field);
    return of_optional || optional ? arena_.optional(type) : type;
  }

  const Type* member_type(const Expr& expr, const Type* of, std::string_view field) {
    switch (of->kind) {
      case TypeKind::kMap:
        return of->parameters[1];
      case TypeKind::kStruct: {
        const Type* type = field_type(expr.id, of->name, of->decl, field);
        return type == nullptr ? &kErrorType : type;
      }
      case TypeKind::kParam:
        bindings_.assignable(&kDynType, of);
        return &kDynType;
      default:
        if (!is_dyn_or_error(*of)) fail(expr.id, "type " + quoted_type(*of) + " does not support field selection");
        return &kDynType;
    }
  }

  const Type* field_type(ExprId id, std::string_view message, const DeclType* decl, std::string_view field) {
    const FieldLookup found = find_field(environment_, arena_, message, decl, field);
    if (!found.known_struct) {
      fail(id, "unexpected failed resolution of '" + std::string(message) + "'");
    } else if (found.type == nullptr) {
      fail(id, "undefined field '" + std::string(field) + "'");
    }
    return found.type;
  }

  // ---- calls

  void check_call(Expr& expr) {
    for (Expr* argument : expr.arguments) check(*argument);
    if (expr.operand != nullptr) {
      if (const std::string before = qualified_name(*expr.operand); !before.empty()) {
        if (const auto found = find_function(before + "." + std::string(expr.name)); !found.empty()) {
          expr.operand = nullptr;
          return resolve(expr, found);
        }
      }
      check(*expr.operand);
    }
    const auto found = find_function(expr.name);
    if (found.empty()) return undeclared(expr, expr.name);
    resolve(expr, found);
  }

  void resolve(Expr& expr, const std::vector<const Overload*>& overloads) {
    expr.name = overloads.front()->function;
    std::vector<const Type*> arguments;
    if (expr.operand != nullptr) arguments.push_back(type_of(*expr.operand));
    for (const Expr* argument : expr.arguments) arguments.push_back(type_of(*argument));
    if (expr.name == "_&&_" || expr.name == "_||_") return resolve_logic(expr, *overloads.front(), arguments);
    std::vector<const Overload*> fitting;
    const Type* result = nullptr;
    for (const Overload* each : overloads) try_overload(expr, *each, arguments, fitting, result);
    if (result == nullptr) return no_overload(expr, arguments);
    set(expr, result);
    set_overloads(expr, fitting);
  }

  void resolve_logic(const Expr& expr, const Overload& overload, const std::vector<const Type*>& arguments) {
    bool fits = true;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (bindings_.assignable(arguments[i], &kBoolType)) continue;
      mismatch(expr.arguments[i]->id, kBoolType, *arguments[i]);
      fits = false;
    }
    set(expr, fits ? &kBoolType : &kErrorType);
    if (fits) set_overloads(expr, {&overload});
  }

  void try_overload(const Expr& expr, const Overload& overload, const std::vector<const Type*>& arguments,
                    std::vector<const Overload*>& fitting, const Type*& result) {
    // After the first comprehension, upstream's checker allows comparisons of different number types.
    if (overload.library == Library::kCrossType && !environment_.cross_types && !seen_loop_) return;
    if (overload.receiver != (expr.operand != nullptr)) return;
    Instance instance(bindings_, arena_);
    const Type* own_result = instance.of(overload.result);
    std::vector<const Type*> wanted;
    for (const Type* each : overload.arguments) wanted.push_back(instance.of(each));
    if (!bindings_.all_assignable(arguments, wanted)) return;
    fitting.push_back(&overload);
    own_result = known(own_result);
    if (result == nullptr) {
      result = own_result;
    } else if (!is_dyn(*result) && !same(*own_result, *result)) {
      result = &kDynType;
    }
  }

  void no_overload(const Expr& expr, const std::vector<const Type*>& arguments) {
    std::string shown;
    for (std::size_t i = expr.operand != nullptr ? 1 : 0; i < arguments.size(); ++i) {
      shown += (shown.empty() ? "" : ", ") + to_text(*bindings_.substitute(arguments[i], true));
    }
    const std::string receiver = expr.operand != nullptr ? to_text(*bindings_.substitute(arguments[0], true)) + "." : "";
    fail(expr.id, "found no matching overload for '" + std::string(expr.name) + "' applied to '" + receiver + "(" + shown + ")'");
    set(expr, &kErrorType);
  }

  // ---- lists, maps, messages

  const Type* join(const Type* before, const Type* now) {
    if (before == nullptr) return now;
    if (bindings_.assignable(before, now)) return most_general(before, now);
    return &kDynType;
  }

  // The type of an entry; for an entry with a question mark, the value type of the optional.
  const Type* unwrapped(const Expr& expr, bool optional) {
    const Type* type = type_of(expr);
    if (!optional) return type;
    if (is_optional(*type)) return type->parameters[0];
    if (!is_dyn(*type)) mismatch(expr.id, *arena_.optional(type), *type);
    return type;
  }

  void check_list(const Expr& expr) {
    const Type* items = nullptr;
    for (std::uint32_t i = 0; i < expr.arguments.size(); ++i) {
      Expr& item = *expr.arguments[i];
      check(item);
      const auto& marked = expr.optional_indices;
      items = join(items, unwrapped(item, std::find(marked.begin(), marked.end(), i) != marked.end()));
    }
    set(expr, arena_.list(items == nullptr ? bindings_.fresh() : items));
  }

  void check_map(const Expr& expr) {
    const Type *keys = nullptr, *values = nullptr;
    for (const Entry& entry : expr.entries) {
      check(*entry.key);
      keys = join(keys, type_of(*entry.key));
      check(*entry.value);
      values = join(values, unwrapped(*entry.value, entry.optional));
    }
    if (keys == nullptr) {
      keys = bindings_.fresh();
      values = bindings_.fresh();
    }
    set(expr, arena_.map(keys, values));
  }

  // Looks up a message by name, or reports a problem; sets the node's type.
  const Type* made_type(Expr& expr, const Found& found) {
    set_name(expr, found);
    if (found.type->kind == TypeKind::kError) return &kErrorType;
    if (found.type->kind != TypeKind::kType) {
      fail(expr.id, "'" + erased(*found.type) + "' is not a type");
      return &kErrorType;
    }
    const Type* made = found.type->parameters.empty() ? &kTypeType : found.type->parameters[0];
    if (!message_name(*made).empty()) return made;
    fail(expr.id, "'" + erased(*made) + "' is not a message type");
    return &kErrorType;
  }

  void check_message(Expr& expr) {
    const auto found = find_name(expr.name);
    if (!found) return undeclared(expr, expr.name);
    const Type* made = made_type(expr, *found);
    set(expr, made);
    const std::string_view name = made->kind == TypeKind::kError ? std::string_view(expr.name) : message_name(*made);
    for (const Entry& entry : expr.entries) {
      check(*entry.value);
      const Type* field = field_type(entry.id, name, made->decl, entry.field);
      if (field == nullptr) field = &kErrorType;
      const Type* value = unwrapped(*entry.value, entry.optional);
      if (bindings_.assignable(field, value)) continue;
      fail(entry.id, "expected type of field '" + std::string(entry.field) + "' is " + quoted_type(*field) + " but provided type is " +
                         quoted_type(*value));
    }
  }

  // ---- loops

  struct Variables {
    const Type* first;
    const Type* second;
  };
  Variables loop_variables(const Expr& range, bool two) {
    const Type* type = known(type_of(range));
    switch (type->kind) {
      case TypeKind::kList:
        return two ? Variables{&kIntType, type->parameters[0]} : Variables{type->parameters[0], nullptr};
      case TypeKind::kMap:
        return {type->parameters[0], type->parameters[1]};
      case TypeKind::kDyn:
      case TypeKind::kError:
      case TypeKind::kParam:
        bindings_.assignable(&kDynType, type);
        return {&kDynType, &kDynType};
      default:
        fail(range.id, "expression of type " + quoted_type(*type) + " cannot be range of a comprehension (must be list, map, or dynamic)");
        return {&kErrorType, &kErrorType};
    }
  }

  void must_be(const Expr& expr, const Type* type) {
    if (!bindings_.assignable(type, type_of(expr))) mismatch(expr.id, *type, *type_of(expr));
  }

  void check_loop(const Expr& expr) {
    const Comprehension& loop = *expr.comprehension;
    check(*loop.range);
    check(*loop.init);
    const Type* accumulated = type_of(*loop.init);
    const bool two = !loop.second_variable.empty();
    const Variables types = loop_variables(*loop.range, two);
    const std::size_t outside = locals_.size();
    seen_loop_ = true;
    locals_.emplace_back(loop.accumulator, accumulated);
    locals_.emplace_back(loop.variable, types.first);
    if (two) locals_.emplace_back(loop.second_variable, types.second);
    check(*loop.condition);
    must_be(*loop.condition, &kBoolType);
    check(*loop.step);
    must_be(*loop.step, accumulated);
    locals_.resize(outside + 1);
    check(*loop.result);
    locals_.resize(outside);
    set(expr, known(type_of(*loop.result)));
  }

  Ast& ast_;
  const Environment::State& environment_;
  TypeArena& arena_;
  Problems& problems_;
  Bindings bindings_;
  std::vector<std::pair<std::string_view, const Type*>> locals_;
  bool seen_loop_ = false;
};

}  // namespace

void check(Ast& ast, const Environment::State& environment, TypeArena& arena, Problems& problems) {
  Checker(ast, environment, arena, problems).run();
}

}  // namespace backplane::cel_detail
