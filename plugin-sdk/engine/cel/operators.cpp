// Arithmetic, order and membership for operands of any type.
#include <array>
#include <limits>
#include <type_traits>

#include "cel/equality.hpp"
#include "cel/functions.hpp"
#include "cel/text.hpp"
#include "cel/times.hpp"

namespace backplane::cel_detail {
namespace {

constexpr std::string_view kIntOverflow = "integer overflow";
constexpr std::string_view kUintOverflow = "unsigned integer overflow";

Val of(std::int64_t value) { return int_val(value); }
Val of(std::uint64_t value) { return uint_val(value); }

template <class T>
Val overflow() {
  return error_val(std::is_signed_v<T> ? kIntOverflow : kUintOverflow);
}
template <class T>
Val sum(T a, T b) {
  T out{};
  return __builtin_add_overflow(a, b, &out) ? overflow<T>() : of(out);
}
template <class T>
Val difference(T a, T b) {
  T out{};
  return __builtin_sub_overflow(a, b, &out) ? overflow<T>() : of(out);
}
template <class T>
Val product(T a, T b) {
  T out{};
  return __builtin_mul_overflow(a, b, &out) ? overflow<T>() : of(out);
}
template <class T>
Val quotient(T a, T b) {
  if (b == 0) return error_val("division by zero");
  if (std::is_signed_v<T> && b == static_cast<T>(-1) && a == std::numeric_limits<T>::min()) return overflow<T>();
  return of(static_cast<T>(a / b));
}
template <class T>
Val remainder(T a, T b) {
  if (b == 0) return error_val("modulus by zero");
  if (std::is_signed_v<T> && b == static_cast<T>(-1) && a == std::numeric_limits<T>::min()) return overflow<T>();
  return of(static_cast<T>(a % b));
}

// The error for an operand whose type lacks the operator.
Val lacks(Call& call, std::string_view name) {
  const ValKind kind = call[0].kind;
  // Texts and times implement the function of this name themselves.
  if (kind == ValKind::kString || kind == ValKind::kTimestamp || kind == ValKind::kDuration) return no_overload();
  return error_val(call.arena, "no such overload: " + std::string(name));
}

Val shifted(const Val& time, std::int64_t nanoseconds) {
  std::int64_t seconds = time.integer + nanoseconds / kNanos;
  std::int64_t nanos = static_cast<std::int64_t>(time.size) + nanoseconds % kNanos;
  if (nanos < 0) {
    nanos += kNanos;
    --seconds;
  } else if (nanos >= kNanos) {
    nanos -= kNanos;
    ++seconds;
  }
  if (seconds < kFirstSecond || seconds > kLastSecond) return error_val("timestamp overflow");
  return timestamp_val(seconds, static_cast<std::uint32_t>(nanos), time.zone);
}

Val as_duration(const Val& number) { return number.is_error() ? number : duration_val(number.integer); }

Val distance(const Val& a, const Val& b) {
  const Val seconds = product<std::int64_t>(a.integer - b.integer, kNanos);
  if (seconds.is_error()) return seconds;
  return as_duration(sum<std::int64_t>(seconds.integer, static_cast<std::int64_t>(a.size) - static_cast<std::int64_t>(b.size)));
}

Val join_texts(Call& call) {
  const std::string_view a = call.text(0), b = call.text(1);
  if (a.empty()) return call[1];
  if (b.empty()) return call[0];
  char* out = call.arena.allocate<char>(a.size() + b.size());
  std::memcpy(out, a.data(), a.size());
  std::memcpy(out + a.size(), b.data(), b.size());
  return text_val(call[0].kind, {out, a.size() + b.size()});
}

Val add(Call& call) {
  const Val &a = call[0], &b = call[1];
  switch (a.kind) {
    case ValKind::kInt:
      return b.kind == a.kind ? sum(a.integer, b.integer) : no_overload();
    case ValKind::kUint:
      return b.kind == a.kind ? sum(a.natural, b.natural) : no_overload();
    case ValKind::kDouble:
      return b.kind == a.kind ? double_val(a.real + b.real) : no_overload();
    case ValKind::kString:
    case ValKind::kBytes:
      return b.kind == a.kind ? join_texts(call) : no_overload();
    case ValKind::kDuration:
      if (b.is(ValKind::kTimestamp)) return shifted(b, a.integer);
      return b.kind == a.kind ? as_duration(sum(a.integer, b.integer)) : no_overload();
    case ValKind::kTimestamp:
      return b.is(ValKind::kDuration) ? shifted(a, b.integer) : no_overload();
    case ValKind::kList:
      return concatenate(call.arena, a, b);
    default:
      return lacks(call, "_+_");
  }
}

Val subtract(Call& call) {
  const Val &a = call[0], &b = call[1];
  switch (a.kind) {
    case ValKind::kInt:
      return b.kind == a.kind ? difference(a.integer, b.integer) : no_overload();
    case ValKind::kUint:
      return b.kind == a.kind ? difference(a.natural, b.natural) : no_overload();
    case ValKind::kDouble:
      return b.kind == a.kind ? double_val(a.real - b.real) : no_overload();
    case ValKind::kDuration:
      return b.kind == a.kind ? as_duration(difference(a.integer, b.integer)) : no_overload();
    case ValKind::kTimestamp:
      if (b.is(ValKind::kTimestamp)) return distance(a, b);
      if (!b.is(ValKind::kDuration)) return no_overload();
      return b.integer == std::numeric_limits<std::int64_t>::min() ? error_val(kIntOverflow) : shifted(a, -b.integer);
    default:
      return lacks(call, "_-_");
  }
}

Val multiply(Call& call) {
  const Val &a = call[0], &b = call[1];
  if (a.is(ValKind::kInt)) return b.kind == a.kind ? product(a.integer, b.integer) : no_overload();
  if (a.is(ValKind::kUint)) return b.kind == a.kind ? product(a.natural, b.natural) : no_overload();
  if (a.is(ValKind::kDouble)) return b.kind == a.kind ? double_val(a.real * b.real) : no_overload();
  return lacks(call, "_*_");
}

Val divide(Call& call) {
  const Val &a = call[0], &b = call[1];
  if (a.is(ValKind::kInt)) return b.kind == a.kind ? quotient(a.integer, b.integer) : no_overload();
  if (a.is(ValKind::kUint)) return b.kind == a.kind ? quotient(a.natural, b.natural) : no_overload();
  if (a.is(ValKind::kDouble)) return b.kind == a.kind ? double_val(a.real / b.real) : no_overload();
  return lacks(call, "_/_");
}

Val modulo(Call& call) {
  const Val &a = call[0], &b = call[1];
  if (a.is(ValKind::kInt)) return b.kind == a.kind ? remainder(a.integer, b.integer) : no_overload();
  if (a.is(ValKind::kUint)) return b.kind == a.kind ? remainder(a.natural, b.natural) : no_overload();
  return lacks(call, "_%_");
}

Val negate(Call& call) {
  const Val& a = call[0];
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  if (a.is(ValKind::kDouble)) return double_val(-a.real);
  if (a.is(ValKind::kInt)) return a.integer == kLeast ? error_val(kIntOverflow) : int_val(-a.integer);
  if (a.is(ValKind::kDuration)) return a.integer == kLeast ? error_val(kIntOverflow) : duration_val(-a.integer);
  if (a.is(ValKind::kBool)) return no_overload();
  return lacks(call, "-_");
}

Val logical_not(Call& call) { return call[0].is(ValKind::kBool) ? bool_val(!call[0].boolean) : no_overload(); }

bool has_order(const Val& value) noexcept {
  switch (value.kind) {
    case ValKind::kBool:
    case ValKind::kInt:
    case ValKind::kUint:
    case ValKind::kDouble:
    case ValKind::kString:
    case ValKind::kBytes:
    case ValKind::kDuration:
    case ValKind::kTimestamp:
      return true;
    default:
      return false;
  }
}

template <int kLow, int kHigh>
Val ordered(Call& call, std::string_view name) {
  if (!has_order(call[0])) return lacks(call, name);
  const Val answer = compare(call[0], call[1]);
  return answer.is_error() ? answer : bool_val(answer.integer >= kLow && answer.integer <= kHigh);
}
Val less(Call& call) { return ordered<-1, -1>(call, "_<_"); }
Val less_equals(Call& call) { return ordered<-1, 0>(call, "_<=_"); }
Val greater(Call& call) { return ordered<1, 1>(call, "_>_"); }
Val greater_equals(Call& call) { return ordered<0, 1>(call, "_>=_"); }

Val equals(Call& call) { return equal_val(call.arena, call[0], call[1]); }
Val not_equals(Call& call) { return bool_val(equal(call.arena, call[0], call[1]) != Equal::kYes); }
Val in(Call& call) { return contains(call.arena, call[1], call[0]); }

Val size(Call& call) {
  switch (call[0].kind) {
    case ValKind::kString:
    case ValKind::kBytes:
    case ValKind::kList:
    case ValKind::kMap:
      return int_val(static_cast<std::int64_t>(size_for_cost(call[0])));
    default:
      return lacks(call, "size");
  }
}

Val same(Call& call) { return call[0]; }
Val type(Call& call) { return convert(call.arena, call[0], ValKind::kType); }

template <ValKind kTo>
Val to(Call& call) {
  return convert(call.arena, call[0], kTo);
}

Val insert(Call& call) {
  const Val& map = call[0];
  if (!map.is(ValKind::kMap)) return no_overload();
  Val out = map;
  if (map.place != Place::kGrowing) {
    // The map is not the accumulator of a macro, so it is copied.
    auto* copy = new (call.arena.allocate<Growing>(1)) Growing();
    map_each(call.arena, map, [&](const Val& key, const Val& value) { return copy->insert(call.arena, key, value); });
    out.place = Place::kGrowing;
    out.growing = copy;
    out.decl = nullptr;
  }
  auto one = [&](const Val& key, const Val& value) {
    if (out.growing->insert(call.arena, key, value)) return true;
    std::string text = "insert failed: key ";
    append_plain(call.arena, text, key);
    out = error_val(call.arena, text + " already exists");
    return false;
  };
  if (call.size() == 3) {
    one(call[1], call[2]);
  } else if (call[1].is(ValKind::kMap)) {
    map_each(call.arena, call[1], one);
  } else {
    return no_overload();
  }
  return out;
}

constexpr Implementation kOperators[] = {
    {"add_bytes", add},
    {"add_double", add},
    {"add_duration_duration", add},
    {"add_duration_timestamp", add},
    {"add_timestamp_duration", add},
    {"add_int64", add},
    {"add_list", add},
    {"add_string", add},
    {"add_uint64", add},
    {"subtract_double", subtract},
    {"subtract_duration_duration", subtract},
    {"subtract_int64", subtract},
    {"subtract_timestamp_duration", subtract},
    {"subtract_timestamp_timestamp", subtract},
    {"subtract_uint64", subtract},
    {"multiply_double", multiply},
    {"multiply_int64", multiply},
    {"multiply_uint64", multiply},
    {"divide_double", divide},
    {"divide_int64", divide},
    {"divide_uint64", divide},
    {"modulo_int64", modulo},
    {"modulo_uint64", modulo},
    {"negate_double", negate},
    {"negate_int64", negate},
    {"logical_not", logical_not},
    {"equals", equals},
    {"not_equals", not_equals},
    {"in_list", in},
    {"in_map", in},
    {"size_bytes", size},
    {"size_list", size},
    {"size_map", size},
    {"size_string", size},
    {"bytes_size", size},
    {"list_size", size},
    {"map_size", size},
    {"string_size", size},
    {"@mapInsert_map_map", insert},
    {"@mapInsert_map_key_value", insert},
};

constexpr Implementation kConversions[] = {
    {"type", type},
    {"to_dyn", same},
    {"bool_to_bool", same},
    {"string_to_bool", to<ValKind::kBool>},
    {"bytes_to_bytes", same},
    {"string_to_bytes", to<ValKind::kBytes>},
    {"double_to_double", same},
    {"int64_to_double", to<ValKind::kDouble>},
    {"string_to_double", to<ValKind::kDouble>},
    {"uint64_to_double", to<ValKind::kDouble>},
    {"duration_to_duration", same},
    {"int64_to_duration", to<ValKind::kDuration>},
    {"string_to_duration", to<ValKind::kDuration>},
    {"int64_to_int64", same},
    {"double_to_int64", to<ValKind::kInt>},
    {"duration_to_int64", to<ValKind::kInt>},
    {"string_to_int64", to<ValKind::kInt>},
    {"timestamp_to_int64", to<ValKind::kInt>},
    {"uint64_to_int64", to<ValKind::kInt>},
    {"string_to_string", same},
    {"bool_to_string", to<ValKind::kString>},
    {"bytes_to_string", to<ValKind::kString>},
    {"double_to_string", to<ValKind::kString>},
    {"duration_to_string", to<ValKind::kString>},
    {"int64_to_string", to<ValKind::kString>},
    {"timestamp_to_string", to<ValKind::kString>},
    {"uint64_to_string", to<ValKind::kString>},
    {"timestamp_to_timestamp", same},
    {"int64_to_timestamp", to<ValKind::kTimestamp>},
    {"string_to_timestamp", to<ValKind::kTimestamp>},
    {"uint64_to_uint64", same},
    {"double_to_uint64", to<ValKind::kUint>},
    {"int64_to_uint64", to<ValKind::kUint>},
    {"string_to_uint64", to<ValKind::kUint>},
};

struct Operator {
  std::string_view name;
  Function function;
};
constexpr Operator kByName[] = {
    {"_+_", add},         {"_-_", subtract},     {"_*_", multiply}, {"_/_", divide},          {"_%_", modulo},     {"-_", negate},
    {"_<_", less},        {"_<=_", less_equals}, {"_>_", greater},  {"_>=_", greater_equals}, {"!_", logical_not}, {"_==_", equals},
    {"_!=_", not_equals}, {"@in", in},           {"size", size},    {"type", type},           {"dyn", same},
};

// Order has an overload for every pair of types: their names are made here.
std::vector<std::string> order_ids() {
  constexpr std::string_view kTypes[] = {"bool",          "int64",        "int64_double", "int64_uint64", "uint64",
                                         "uint64_double", "uint64_int64", "double",       "double_int64", "double_uint64",
                                         "string",        "bytes",        "timestamp",    "duration"};
  std::vector<std::string> out;
  for (const std::string_view base : {"less", "less_equals", "greater", "greater_equals"}) {
    for (const std::string_view type : kTypes) out.push_back(std::string(base) + "_" + std::string(type));
  }
  return out;
}

std::vector<Implementation> with_order() {
  static const std::vector<std::string> ids = order_ids();
  std::vector<Implementation> out(std::begin(kOperators), std::end(kOperators));
  const std::size_t each = ids.size() / 4;
  constexpr Function kOrders[] = {less, less_equals, greater, greater_equals};
  for (std::size_t i = 0; i < ids.size(); ++i) out.push_back({ids[i], kOrders[i / each]});
  return out;
}

}  // namespace

std::span<const Implementation> operator_functions() {
  static const std::vector<Implementation> table = with_order();
  return table;
}
std::span<const Implementation> conversion_functions() { return kConversions; }

Function operator_of(std::string_view function) {
  for (const Operator& row : kByName) {
    if (row.name == function) return row.function;
  }
  return nullptr;
}

}  // namespace backplane::cel_detail
